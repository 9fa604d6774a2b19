"""Data sets as they are published (MuSiQue, HotpotQA, 2WikiMultihopQA), and one's own questions in JSON lines.

They are read from files that the user has; which of them a file or a folder holds is seen by its content.

    dataset = load(Path("musique"))            # a file or a folder
    write_corpus(dataset, Path("musique.jsonl"))

docs/reference/data-sets.md has the keys; examples/convert_data_sets.py makes one's own format of other data sets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kgplatform.errors import InputError
from kgplatform.evaluate.entries import Entry, UnusableError, Values, as_text, entries, some, whole
from kgplatform.evaluate.journal import write_whole
from kgplatform.evaluate.terms import DataSet, Question, Text, first_of
from kgplatform.readers.choices import check_choices, letter
from kgplatform.sources.corpus_file import described, shown
from kgplatform.text import counted, node_id, normalise_name, tidy


@dataclass
class Draft:
    """A data set in the making: what was found so far, and what is wrong with it.

    ``apart``: as in ``DataSet``; a format sets it, at any time before the end. ``given``: a corpus that came with the
    questions; it takes the place of the questions' own texts unless they are apart. ``texts``: all texts, numbered;
    ``titles``: of one's own questions, the numbers of their corpus. ``aliases``: other right answers, by the ids of
    answers in Wikidata. ``questions``: by id, each with the numbers of the texts that it is about; ``copies``: how
    many had one id.
    """

    name: str
    given: tuple[Text, ...] | None = None
    titles: dict[str, int] = field(default_factory=dict)
    aliases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    apart: bool = False
    texts: dict[Text, int] = field(default_factory=dict)
    questions: dict[str, tuple[Question, tuple[int, ...]]] = field(default_factory=dict)
    faults: dict[str, None] = field(default_factory=dict)
    skipped: int = 0
    copies: dict[str, int] = field(default_factory=dict)

    def fault(self, where: str, reason: str) -> None:
        """Report, once, what cannot be used; the question, if it is about one, stays."""
        self.faults[f"{where}: {reason}."] = None

    def skip(self, where: str, reason: str) -> None:
        """Report why a question is left out."""
        self.fault(where, f"{reason}; skipped")
        self.skipped += 1

    def text(self, title: str, text: str) -> int:
        """Put a text into the corpus, once; returns its number there."""
        return self.texts.setdefault(Text(title, text), len(self.texts))

    def question(self, where: str, question: Question, texts: Sequence[int] = ()) -> None:
        """Add a question about the texts with these numbers, or report why it cannot be asked."""
        try:
            question = _with_right_choice(question)
        except (InputError, UnusableError) as error:
            said = str(error).rstrip(".")
            self.skip(where, said[:1].lower() + said[1:])
            return
        if not (question.answers or question.placeholders) and question.answerable:
            if not question.supports:
                self.skip(where, "there is no answer")
                return
            self.fault(where, "there is no answer, so that only the retrieval of its passages is scored")
        if question.id in self.questions and question == self.questions[question.id][0]:
            self.skip(where, f"the same question is there already, with the id {shown(question.id)}")
            return
        own = _free(question.id, self.questions, self.copies)
        if own != question.id:
            self.fault(where, f"another question has the id {shown(question.id)} already; this one is called {own}")
        self.questions[own] = replace(question, id=own), tuple(dict.fromkeys(texts))

    def finish(self, path: Path, *, limit: int | None = None, sample: int | None = None) -> DataSet:
        """The data set, with the first ``limit`` questions; or ``sample`` of them, in the order of the file: those
        whose ids have the least hashes, so that a larger sample holds a smaller one, whatever else the file holds.

        Raises ``InputError`` if there is no question.
        """
        ids = list(self.questions)[:limit]
        if sample is not None:
            drawn = set(sorted(ids, key=lambda each: (node_id("sample", each), each))[:sample])
            ids = [each for each in ids if each in drawn]
        if not ids:
            raise InputError(" ".join([f"{path} has no question that can be used.", *first_of([*self.faults], 1)]))
        asked = [self.questions[each] for each in ids]
        if self.apart:
            questions, corpus = self._apart(asked)
        else:
            corpus = tuple(text for text in self.texts if text.text) if self.given is None else self.given
            questions = _by_title([question for question, _ in asked], corpus)
            titles = {text.title for text in corpus}
            lacking = [each.id for each in questions if not titles.issuperset(text.title for text in each.supports)]
            if titles and lacking:
                self.fault(
                    self.name,
                    f"of {counted(len(lacking), 'question')} a supporting passage is not in the corpus, so that it "
                    f"cannot be found; the first is {shown(lacking[0])}",
                )
        faults = tuple(self.faults)
        return DataSet(self.name, tuple(questions), corpus, apart=self.apart, faults=faults, skipped=self.skipped)

    def _apart(self, asked: Iterable[tuple[Question, tuple[int, ...]]]) -> tuple[list[Question], tuple[Text, ...]]:
        """The questions with the titles of their texts, and just these texts, each under a title of its own."""
        asked, texts = list(asked), list(self.texts)
        titles: dict[int, str] = {}
        taken: set[str] = set()
        copies: dict[str, int] = {}
        for number in sorted({number for _, numbers in asked for number in numbers}):
            titles[number] = _free(texts[number].title, taken, copies)
            taken.add(titles[number])
        questions = [
            replace(
                question,
                within=tuple(titles[number] for number in numbers),
                supports=tuple(
                    Text(titles[number]) if (number := self.texts.get(support, -1)) in titles else support
                    for support in question.supports
                ),
            )
            for question, numbers in asked
        ]
        return questions, tuple(Text(title, texts[number].text) for number, title in titles.items())


def _by_title(questions: Iterable[Question], corpus: Iterable[Text]) -> list[Question]:
    """Supports without their texts where their titles identify them: white space in them cannot mislead then."""
    texts: dict[str, list[str]] = {}
    for document in corpus:
        texts.setdefault(document.title, []).append(document.text)

    shortened = []
    for question in questions:
        supports = (Text(each.title) if texts.get(each.title) == [each.text] else each for each in question.supports)
        shortened.append(replace(question, supports=tuple(supports)))
    return shortened


def _with_right_choice(question: Question) -> Question:
    """``question`` with its right answers spelled as among the choices; given by its words, or else by its letter."""
    if not question.choices:
        return question
    check_choices(question.choices)
    if not question.answerable:
        return question
    if not question.answers:
        raise UnusableError("no choice is marked as the right one")
    spelled = {normalise_name(choice): choice for choice in question.choices}
    letters = {letter(number): choice for number, choice in enumerate(question.choices)}
    right = [spelled[key] for key in map(normalise_name, question.answers) if key in spelled]
    right = right or [letters[answer] for answer in question.answers if answer in letters]
    if not right:
        raise UnusableError(f"its answer {shown(question.answers[0])} is none of the choices")
    return replace(question, answers=tuple(dict.fromkeys(right)))


def _free(name: str, taken: Container[str], copies: dict[str, int]) -> str:
    """``name``, or "name (2)" … if that is ``taken``. ``copies``: the last number of each, to continue from there."""
    own, copy = name, copies.get(name, 1)
    while own in taken:
        copy += 1
        own = f"{name} ({copy})"
    copies[name] = copy
    return own


KEYS = (
    *("id", "question", "answer", "answers", "answerable", "keywords", "choices", "documents", "passages", "facts"),
    *("parts", "within", "kind", "hops", "placeholders"),
)
"""What an object of one's own may hold; only ``question`` is required."""

_NEEDED = ("question", "answer", "answers")
"""Of these it is said if nothing is there; of the others null is no key."""

_NOT_OWN = ({"key", "setup"}, {"rater"}, {"reader", "trace"}, {"context"})
"""Keys by which a line is known as an answer, a rating, a trace, or a question of another data set."""

_RECORDING = {"extracted_triples", "extracted_entities"}


def _is_own(values: Values) -> bool:
    return isinstance(values.get("question"), str) and not any(keys <= values.keys() for keys in _NOT_OWN)


def _read_own(draft: Draft, entry: Entry) -> None:
    """Questions that all say which texts of the corpus beside them they are about (``within``) are asked apart."""
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
    within = tuple(map(tidy, values.texts("within")))
    if draft.titles and (lacking := [title for title in within if title not in draft.titles]):
        raise UnusableError(f'"within" names {shown(lacking[0])}, which is not in the corpus')
    draft.apart = draft.apart and bool(within)
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
            within=within,
            kind=counted(whole(values["hops"], "hops"), "hop") if hops else values.title("kind"),
            answerable=answerable,
            placeholders=_placeholders(values),
        ),
        [draft.titles[title] for title in within] if draft.titles else (),
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


def write_corpus(dataset: DataSet, file: Path) -> Path:
    """Write the corpus of ``dataset`` for ``ingest``, an object with title and text a line; returns ``file``. The file
    is written whole or not at all. Raises ``KgError`` where that fails."""
    lines = (json.dumps({"title": each.title, "text": each.text}, ensure_ascii=False) for each in dataset.corpus)
    write_whole(file, "".join(f"{line}\n" for line in lines).encode(), kept="Nothing was changed")
    return file


def as_own(question: Question) -> dict[str, Any]:
    """A question as an object of one's own file."""
    supports = [{"title": support.title, "text": support.text} for support in question.supports]
    named_alone = not any(support["text"] for support in supports)
    same = ("id", "answers", "keywords", "choices", "facts", "parts", "within", "kind", "placeholders")
    values = {"question": question.text, **{key: getattr(question, key) for key in same}}
    values |= {"documents": [support["title"] for support in supports]} if named_alone else {"passages": supports}
    kept = {key: values[key] for key in KEYS if values.get(key)}
    return kept if question.answerable else kept | {"answerable": False}


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


def _is_2wiki(values: Values) -> bool:
    own = {"evidences", "evidences_id", "entity_ids"}
    return {"question", "context"} <= values.keys() and bool(own & values.keys())


def _is_hotpotqa(values: Values) -> bool:
    return {"question", "context", "supporting_facts"} <= values.keys() and not _is_2wiki(values)


def _read_sentences(draft: Draft, entry: Entry) -> None:
    """One question of HotpotQA, whose sentences bring the space between them, or of 2Wiki."""
    values, between = entry.values, " " if draft.name == "2wiki" else ""
    text = values.wanted("question")
    passages: dict[str, list[str]] = {}
    for title, parts in _pairs(values, "context", "sentences", "content"):
        name = tidy(as_text(title, "context"))
        if not isinstance(parts, list):
            raise UnusableError(f'"context" holds {described(parts)}, expected a list of sentences')
        passages.setdefault(name, [part if isinstance(part, str) else as_text(part, "context") for part in parts])
    texts = {
        title: between.join(part.strip() if between else part for part in parts).strip()
        for title, parts in passages.items()
    }
    key = "supporting_facts"  # each the title of a passage, and the number of a sentence in it, from 0
    named = [(tidy(as_text(title, key)), whole(number, key)) for title, number in _pairs(values, key, "sent_id")]
    answers = (values.text("answer"), *draft.aliases.get(values.text("answer_id"), ()))
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


def _read_aliases(draft: Draft, file: Path) -> None:
    """Other names of answers, by their ids in Wikidata, and the adjectives of places, as 2Wiki's scorer has them."""
    for entry in entries(file):
        try:
            names = entry.values.texts("aliases"), entry.values.texts("demonyms")
            draft.aliases[entry.values.wanted("Q_id")] = (*names[0], *names[1])
        except UnusableError as error:
            draft.fault(entry.where, str(error))


@dataclass(frozen=True, slots=True)
class Format:
    """One format. ``expects``: the keys by which it is known, for people. ``fits``: whether an object is of it.

    ``read``: puts an object into the draft; raises ``UnusableError`` for one that is not a question.
    """

    name: str
    expects: str
    fits: Callable[[Values], bool]
    read: Callable[[Draft, Entry], None]


FORMATS = (
    Format("musique", "question, paragraphs (title, paragraph_text)", _is_musique, _read_musique),
    Format("2wiki", "question, context, evidences", _is_2wiki, _read_sentences),
    Format("hotpotqa", "question, context, supporting_facts", _is_hotpotqa, _read_sentences),
    Format("own", "question, answer", _is_own, _read_own),
)
"""In the order in which they are tried: one's own questions need only a key that the others have too."""
_CONVERTER = "examples/convert_data_sets.py makes JSON lines of other data sets."
_ALIASES = "id_aliases.json"
_SUFFIXES = (".json", ".jsonl", ".ndjson")


def load(path: Path, *, limit: int | None = None, sample: int | None = None) -> DataSet:
    """The data set in ``path``, a file or a folder, in the first of ``FORMATS`` that fits what is found.

    ``limit``: the first questions; ``sample``: as many drawn from these, always the same. The corpus is that of
    all questions nevertheless, so that recall can be compared; where questions are asked apart, it is theirs alone.
    Raises ``InputError`` that says what was expected and what was found.
    """
    path = Path(path).expanduser()
    try:
        if not path.is_dir() and not path.is_file():
            raise InputError(f"{path}: there is no such file or folder.")
        found, questions, corpus = (_in_folder if path.is_dir() else _in_file)(path)
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {(error.strerror or str(error)).lower()}.") from error
    draft = Draft(found.name)
    if corpus is not None:
        draft.given = _corpus(draft, corpus)
    if found.name == "own":
        for text in draft.given or ():
            draft.titles.setdefault(text.title, draft.text(text.title, text.text))
        draft.apart = len(draft.titles) > 1
    if found.name == "2wiki" and (aliases := questions.with_name(_ALIASES)).is_file():
        _read_aliases(draft, aliases)
    for entry in entries(questions):
        try:
            found.read(draft, entry)
        except UnusableError as error:
            draft.skip(entry.where, str(error))
    return draft.finish(path, limit=limit, sample=sample)


def _format(objects: Iterable[Values]) -> Format | None:
    """The format of the first of ``objects`` that has one."""
    return next((format_ for values in objects for format_ in FORMATS if format_.fits(values)), None)


def _in_file(path: Path) -> tuple[Format, Path, None]:
    objects = some(path)
    found = _format(objects)
    if found is None:
        first = next(entries(path))
        told = described(objects[0]) if objects else first.fault or described(first.value)
        known = "; ".join(f"{each.name} ({each.expects})" for each in FORMATS)
        raise InputError(f"{path} is in no known format of questions: found {told}; expected {known}. {_CONVERTER}")
    return found, path, None


def _in_folder(folder: Path) -> tuple[Format, Path, Path | None]:
    """The format, the questions, and the corpus. Raises ``InputError`` for several of them."""
    others: list[str] = []
    questions: dict[Path, Format] = {}
    corpora: list[Path] = []
    for file in sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES and path.is_file()):
        try:
            objects = some(file)
        except InputError as error:
            others.append(str(error).rstrip("."))
            continue
        if (found := _format(objects)) is not None:
            questions[file] = found
        elif objects and {"title", "text"} <= objects[0].keys() and not objects[0].keys() & _RECORDING:
            corpora.append(file)
        elif file.name != _ALIASES:
            others.append(f"{file.name} holds {described(objects[0]) if objects else 'no objects'}")
    if not questions:
        told = [f"{file.name} (a corpus)" for file in corpora] + others
        listed = f"{'; '.join(told[:5])}{'; …' if len(told) > 5 else ''}" if told else "no JSON or JSON lines"
        raise InputError(f"{folder} holds no questions: found {listed}. {_CONVERTER}")
    for what, several in (("files of questions", list(questions)), ("corpora", corpora)):
        if len(several) > 1:
            named = ", ".join(file.name for file in several[:8])
            raise InputError(
                f"{folder} holds several {what}: {named}. Leave only one there, or name the file of the questions."
            )
    [(file, found)] = questions.items()
    return found, file, next(iter(corpora), None)


def _corpus(draft: Draft, file: Path) -> tuple[Text, ...]:
    """The corpus that lies beside the questions, each text once."""
    found: dict[Text, None] = {}
    for entry in entries(file):
        try:
            found[Text(entry.values.title("title"), entry.values.wanted("text"))] = None
        except UnusableError as error:
            draft.fault(entry.where, f"{error}; this text is left out")
    return tuple(found)
