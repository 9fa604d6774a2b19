"""Questions with one corpus for all of them: one's own, pooled passages (MuSiQue, SQuAD, HotpotQA, 2WikiMultihopQA),
and the two benchmarks with the name GraphRAG-Bench. docs/reference/data-sets.md has the keys.

Novels and medicine (GraphRAG-Bench/GraphRAG-Benchmark): each question names the text that it is about. Textbooks
(jeremycp3/GraphRAG-Bench): a file for each sort of question, over all books.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from kgplatform.evaluate.datasets.draft import Draft, Format, ReadEntry, write_lines
from kgplatform.evaluate.datasets.entries import Entry, UnusableError, Values, as_text, entries, whole
from kgplatform.evaluate.terms import Question, Text
from kgplatform.sources.corpus_file import described, shown
from kgplatform.text import counted, tidy

KEYS = (
    *("id", "question", "answer", "answers", "answerable", "keywords", "choices", "documents", "passages", "facts"),
    *("parts", "within", "kind", "hops", "placeholders"),
)
"""What an object of one's own may hold; only ``question`` is required."""

_NEEDED = ("question", "answer", "answers")
"""Of these it is said if nothing is there; of the others an empty cell of a table, or null, is no key."""

_RESULTS = ({"key", "setup"}, {"rater"}, {"reader", "trace"})
"""Keys by which a line is recognised as an answer, rating or trace, not a question."""


def _read_own(draft: Draft, entry: Entry) -> None:
    values = Values({key: value for key, value in entry.values.items() if value not in ("", None) or key in _NEEDED})
    for key in entry.value:
        if key not in KEYS:
            draft.fault(entry.file.name, f"the key {shown(key)} is not known and not used")
    answerable = values.yes_or_no("answerable", True)
    answers = values.texts("answer", "answers")
    if answers and not answerable:
        draft.fault(entry.where, '"answerable" is false, so that its answer is not used')
    named = [Text(tidy(document)) for document in values.texts("documents")]
    passages = [Text(tidy(passage.wanted("title")), passage.text("text")) for passage in values.objects("passages")]
    hops = "hops" in values and "kind" not in values
    draft.question(
        entry.where,
        Question(
            id=values.title("id") or entry.place,
            text=values.wanted("question"),
            answers=answers if answerable else (),
            keywords=values.texts("keywords"),
            choices=tuple(as_text(choice, "choices") for choice in values.listed("choices")),
            supports=tuple(dict.fromkeys((*named, *passages))),
            facts=values.texts("facts"),
            parts=values.texts("parts"),
            within=tuple(map(tidy, values.texts("within"))),
            kind=counted(whole(values["hops"], "hops"), "hop") if hops else values.title("kind"),
            answerable=answerable,
            placeholders=_placeholders(values),
        ),
    )


def _placeholders(values: Values) -> dict[str, tuple[str, ...]]:
    found = values.get("placeholders", {})
    if not isinstance(found, dict):
        raise UnusableError(f'"placeholders" is {described(found)}, expected an object of lists of names')
    names = {as_text(key, "placeholders"): Values(found).texts(key) for key in found}
    for key, texts in names.items():
        if not texts:
            raise UnusableError(f'"placeholders" has no name for {shown(key)}')
    return names


def write_questions(file: Path, questions: Iterable[Question]) -> Path:
    """Write ``questions`` as JSON lines that ``load`` reads back, equal to them; returns the file.

    The file is written whole or not at all. Raises ``KgError`` where that fails.
    """
    return write_lines(file, map(as_own, questions))


def as_own(question: Question) -> dict[str, Any]:
    """A question as an object of one's own file."""
    supports = [{"title": support.title, "text": support.text} for support in question.supports]
    named_alone = not any(support["text"] for support in supports)
    same = ("id", "answers", "keywords", "choices", "facts", "parts", "within", "kind", "placeholders")
    values = {"question": question.text, **{key: getattr(question, key) for key in same}}
    values |= {"documents": [support["title"] for support in supports]} if named_alone else {"passages": supports}
    kept = {key: values[key] for key in KEYS if values.get(key)}
    return kept if question.answerable else kept | {"answerable": False}


OWN = Format(
    "own",
    "question, answer",
    lambda values: isinstance(values.get("question"), str) and not any(keys <= values.keys() for keys in _RESULTS),
    lambda draft: partial(_read_own, draft),
)

_EARLIER = re.compile(r"#(\d+)")
_HOPS = re.compile(r"(\d+)hop")


def _is_musique(values: Values) -> bool:
    paragraphs = values.get("paragraphs")
    if "question" not in values or not isinstance(paragraphs, list):
        return False
    return all(isinstance(paragraph, dict) and "paragraph_text" in paragraph for paragraph in paragraphs[:1])


def _read_musique(draft: Draft, entry: Entry) -> None:
    """One question; an unanswerable one is so among its own paragraphs alone, so that all are asked apart then."""
    values = entry.values
    answerable = values.yes_or_no("answerable", True)
    passages, supporting = _paragraphs(values)
    text = values.wanted("question")
    answers = (values.text("answer"), *values.texts("answer_aliases")) if answerable else ()
    steps = values.objects("question_decomposition")
    identity = values.text("id") or entry.place
    hops = _HOPS.match(identity)
    number = len(steps) or (int(hops[1]) if hops else 0)
    draft.apart = draft.apart or not answerable
    draft.question(
        entry.where,
        Question(
            id=identity if answerable else f"{identity} unanswerable",
            text=text,
            answers=tuple(filter(None, dict.fromkeys(answers))),
            supports=tuple(dict.fromkeys(supporting)) if answerable else (),
            parts=_parts(steps) if answerable else (),
            kind=counted(number, "hop") if number else "",
            answerable=answerable,
        ),
        [draft.text(passage.title, passage.text) for passage in passages],
    )


def _paragraphs(values: Values) -> tuple[list[Text], list[Text]]:
    """All passages, and those that support the answer."""
    passages, supporting = [], []
    for paragraph in values.objects("paragraphs"):
        is_supporting = paragraph.yes_or_no("is_supporting", False)
        read = paragraph.wanted if is_supporting else paragraph.text
        passage = Text(paragraph.title("title"), read("paragraph_text"))
        passages += [passage] if passage.text else []
        supporting += [passage] if is_supporting else []
    return passages, supporting


def _parts(steps: Sequence[Values]) -> tuple[str, ...]:
    """The parts of a question, the answer to the first one in the place of ``#1``."""
    answers = [step.text("answer") for step in steps]

    def answer(mark: re.Match[str]) -> str:
        if not 1 <= int(mark[1]) <= len(answers):
            raise UnusableError(
                f'"question_decomposition" refers to {mark[0]}, but has {counted(len(answers), "part")}'
            )
        return answers[int(mark[1]) - 1]

    return tuple(_EARLIER.sub(answer, step.wanted("question")) for step in steps)


MUSIQUE = Format(
    "musique", "question, paragraphs (title, paragraph_text)", _is_musique, lambda draft: partial(_read_musique, draft)
)


def _is_article(values: Values) -> bool:
    paragraphs = values.get("paragraphs")
    return isinstance(paragraphs, list) and all(isinstance(each, dict) and "qas" in each for each in paragraphs[:1])


def _is_squad(values: Values) -> bool:
    """An article, or a row of the form on Hugging Face."""
    flat = {"question", "context", "answers"} <= values.keys() and isinstance(values["answers"], dict)
    return _is_article(values) or (flat and "text" in values["answers"])


def _read_squad(draft: Draft, entry: Entry) -> None:
    """The questions of an article, each about one of its paragraphs, or one question."""
    values = entry.values
    asked = {} if _is_article(values) else {entry.where: values}
    for paragraph in values.objects("paragraphs"):
        for number, inner in enumerate(paragraph.objects("qas"), 1):
            where = f"{entry.where}, question {inner.text('id') or number}"
            asked[where] = Values(inner | {"context": paragraph.get("context")})
    for where, question in asked.items():
        try:
            _ask_squad(draft, where, values.title("title") or entry.where, question)
        except UnusableError as error:
            draft.skip(where, str(error))


def _ask_squad(draft: Draft, where: str, title: str, values: Values) -> None:
    """An unanswerable question (v2) is so of its own paragraph alone, so that all are asked apart then."""
    given = values.get("answers")
    listed = [given] if isinstance(given, dict) else values.objects("answers")
    answers = tuple(dict.fromkeys(text for answer in listed for text in Values(answer).texts("text")))
    answerable = bool(answers) and not values.yes_or_no("is_impossible", False)
    draft.apart = draft.apart or not answerable
    passage = Text(title, values.wanted("context"))
    question = Question(
        id=values.text("id") or where,
        text=values.wanted("question"),
        answers=answers if answerable else (),
        supports=(passage,) if answerable else (),
        answerable=answerable,
    )
    draft.question(where, question, [draft.text(passage.title, passage.text)])


SQUAD = Format(
    "squad",
    "paragraphs (context, qas), or question, context, answers (text)",
    _is_squad,
    lambda draft: partial(_read_squad, draft),
)


def _is_2wiki(values: Values) -> bool:
    own = {"evidences", "evidences_id", "entity_ids"}
    return {"question", "context"} <= values.keys() and bool(own & values.keys())


def _read_sentences(draft: Draft, between: str, aliases: Mapping[str, Sequence[str]], entry: Entry) -> None:
    """One question. ``between``: what separates sentences of a passage; those of HotpotQA bring their own space."""
    values = entry.values
    text = values.wanted("question")
    passages: dict[str, list[str]] = {}
    for title, parts in _pairs(values, "context", "sentences", "content"):
        passages.setdefault(tidy(as_text(title, "context")), _sentences(parts))
    texts = {
        title: between.join(part.strip() if between else part for part in parts).strip()
        for title, parts in passages.items()
    }
    key = "supporting_facts"  # each the title of a passage, and the number of a sentence in it, from 0
    named = [(tidy(as_text(title, key)), whole(number, key)) for title, number in _pairs(values, key, "sent_id")]
    answers = (values.text("answer"), *aliases.get(values.text("answer_id"), ()))
    for title, content in texts.items():
        if content:
            draft.text(title, content)
    draft.question(
        entry.where,
        Question(
            id=values.text("_id") or values.text("id") or entry.place,
            text=text,
            answers=tuple(filter(None, dict.fromkeys(answers))),
            supports=tuple(Text(title, texts.get(title, "")) for title in dict.fromkeys(title for title, _ in named)),
            facts=tuple(_facts(draft, entry.where, passages, named)),
            kind=values.text("type"),
        ),
    )


def _sentences(parts: object) -> list[str]:
    if not isinstance(parts, list):
        raise UnusableError(f'"context" holds {described(parts)}, expected a list of sentences')
    return [part if isinstance(part, str) else as_text(part, "context") for part in parts]


def _pairs(values: Values, key: str, *inner: str) -> list[tuple[Any, Any]]:
    """What is under ``key``: a list of pairs, or an object of two lists of equal length, "title" and the first one of
    ``inner`` that is there."""
    found = values.unpacked(key)
    if isinstance(found, dict):
        others = Values(found).listed(next((name for name in inner if name in found), inner[-1]))
        titles = Values(found).listed("title")
        if len(titles) != len(others):
            raise UnusableError(f'"{key}" has {counted(len(titles), "title")} for {len(others):,}, expected as many')
        return list(zip(titles, others, strict=True))
    items = [] if found is None else found if isinstance(found, list) else [found]
    for item in items:
        if not isinstance(item, list) or len(item) != 2:
            raise UnusableError(f'"{key}" holds {described(item)}, expected lists of two')
    return [(first, second) for first, second in items]


def _facts(
    draft: Draft, where: str, passages: Mapping[str, Sequence[str]], named: Sequence[tuple[str, int]]
) -> Iterator[str]:
    for title, number in named:
        parts = passages.get(title)
        if parts is None:
            continue  # its passage was not among those that were retrieved (full wiki), which is said at the end
        if 0 <= number < len(parts):
            yield as_text(parts[number], "context")
        else:
            draft.fault(
                where,
                f"supporting sentence {number} of {shown(title)} is left out, for that passage has "
                f"{counted(len(parts), 'sentence')}, counted from 0",
            )


def _begin_2wiki(draft: Draft) -> ReadEntry:
    """With other names of answers, by their ids in Wikidata, and the adjectives of places, as its scorer takes them."""
    aliases: dict[str, tuple[str, ...]] = {}
    for entry in entries(draft.sources.aliases) if draft.sources.aliases else ():
        try:
            names = entry.values.texts("aliases"), entry.values.texts("demonyms")
            aliases[entry.values.wanted("Q_id")] = (*names[0], *names[1])
        except UnusableError as error:
            draft.fault(entry.where, str(error))
    return partial(_read_sentences, draft, " ", aliases)


HOTPOTQA = Format(
    "hotpotqa",
    "question, context, supporting_facts",
    lambda values: {"question", "context", "supporting_facts"} <= values.keys() and not _is_2wiki(values),
    lambda draft: partial(_read_sentences, draft, "", {}),
)
TWO_WIKI = Format("2wiki", "question, context, evidences", _is_2wiki, _begin_2wiki)

_KINDS = {
    "FB": "fill in the blank",
    "MC": "multiple choice",
    "MS": "multiple select",
    "TF": "true or false",
    "OE": "open-ended",
}
_GRAPHRAG_BENCH = ({"question", "source", "question_type"}, {"Question", "Answer"})


def _begin_graphrag_bench(draft: Draft) -> ReadEntry:
    """With the texts of the corpus by name, where questions name them; several are several graphs, as published."""
    given = draft.given or ()
    numbers = {each.title: draft.text(each.title, each.text) for each in given}
    draft.known = numbers if len(numbers) == len(given) else {}
    return partial(_read_graphrag_bench, draft)


def _read_graphrag_bench(draft: Draft, entry: Entry) -> None:
    values = entry.values
    if "Question" in values:
        draft.question(entry.where, _from_textbooks(entry, values))
        return
    text, source = values.wanted("question"), values.title("source")
    if draft.known and source not in draft.known:
        raise UnusableError(f"its source {shown(source)} is not in the corpus")
    draft.apart = draft.apart or len(draft.known) > 1
    question = Question(
        id=values.text("id") or f"{entry.file.stem} {entry.place}",
        text=text,
        answers=values.texts("answer"),
        facts=_evidence(values),
        kind=values.text("question_type"),
    )
    draft.question(entry.where, question, [draft.known[source]] if draft.known else [])


def _evidence(values: Values) -> tuple[str, ...]:
    """The statements that are needed: a list, or one text, which may be a list as Python writes it."""
    found = values.get("evidence")
    if isinstance(found, str) and found.strip().startswith("["):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):  # else a statement with a bracket first
            found = ast.literal_eval(found.strip())
    return Values(evidence=found).texts("evidence") if found else ()


def _from_textbooks(entry: Entry, values: Values) -> Question:
    sort = entry.file.stem.upper()
    text, answers = values.wanted("Question"), values.texts("Answer")
    options = _options(values)
    choices: tuple[str, ...] = ("True", "False") if sort == "TF" and not options else ()
    if options:
        right = _right(options, answers)
        if len(right) == 1 and sort != "MS":
            choices, answers = tuple(options.values()), (options[right[0]],)
        else:
            listed = "\n".join(f"({letter}) {option}" for letter, option in options.items())
            text, answers = f"{text}\n{listed}", ("; ".join(options[letter] for letter in right),)
    kind = _KINDS.get(sort, values.text("Level-1 Topic"))
    return Question(id=f"{entry.file.stem} {entry.place}", text=text, answers=answers, choices=choices, kind=kind)


def _options(values: Values) -> dict[str, str]:
    """The options by letter."""
    found = values.get("Choices") or {}
    if isinstance(found, list):
        found = {chr(ord("A") + number): option for number, option in enumerate(found)}
    if not isinstance(found, dict):
        raise UnusableError(f'"Choices" is {described(found)}, expected an object of options')
    return {letter: as_text(option, "Choices") for letter, option in sorted(found.items())}


def _right(options: dict[str, str], answers: tuple[str, ...]) -> list[str]:
    """The letters of the right options, given as "B", as "ABD", as "A, B, D", as a list of these, or by an option."""
    told = "".join(answers) if all(len(answer) == 1 for answer in answers) else ", ".join(answers)
    spelled = [each for each in told if each.isalnum()]
    if spelled and all(each in options for each in spelled):
        return sorted(set(spelled))
    right = [letter for letter, option in options.items() if option in answers]
    if not right:
        raise UnusableError(f'its "Answer" {shown(told)} is none of the "Choices"')
    return right


GRAPHRAG_BENCH = Format(
    "graphrag-bench",
    "question, source, question_type, or Question, Answer, Level-1 Topic",
    lambda values: any(keys <= values.keys() for keys in _GRAPHRAG_BENCH),
    _begin_graphrag_bench,
    several=True,
)
