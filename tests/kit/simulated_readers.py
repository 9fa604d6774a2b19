"""A stand-in for a language model that answers every prompt of every reader by counting words that texts share.

    with OpenAIServer(reply) as server: ...
    python tests/kit/simulated_readers.py       # serves until it is stopped, and prints its address

It understands nothing. A sentence that shares enough words with a question is what it says; where a question needs a
second sentence, it looks for one that has a name of the first. The same prompt gets the same reply, always, so a run
that was killed and goes on comes to what an undisturbed one does. Figures that it makes say what a reader's way of
looking brings before a model's eyes, and nothing of how well a real model reads.
"""

import json
import re
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Any

from model_by_prompt import Prompt

from kgplatform.evaluate.needles import RANKS
from kgplatform.prompt import Messages, prompt_names
from kgplatform.testing import OpenAIServer
from kgplatform.text.sentences import sentences

Fields = dict[str, Any]
"""Those of a reply."""
_ASKED_AGAIN = re.compile(r"\ASay what is told of (?P<name>.+?), asked: (?P<question>.+)", re.DOTALL)


def reply(messages: Messages) -> str:
    """The reply to any prompt of the platform. Raises ``LookupError`` for one that it has no rule for."""
    prompt = Prompt(messages)
    said = RULES[prompt.name](prompt)
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def _answer(asked: Prompt) -> Fields:
    told = tell(asked.question, asked.sentences.values())
    cited = [(asked.number_of(each), each) for each in told.sentences]
    numbers = [number for number, _ in cited if number]
    text = " ".join(f"{said} [{number}]" for number, said in cited if number)
    return {"evidence": numbers, "answer": text, "sufficient": bool(text)}


def _verify(asked: Prompt) -> Fields:
    """A statement holds where its sentences have half of its words."""
    shown = re.findall(r"^Statement \d+: (.*)\nSentences: (.*)", asked.data, re.MULTILINE)
    held = [2 * shared(said, sentences) >= len(stems_of(said)) for said, sentences in shown]
    return {"supported": held}


def _stand_alone(asked: Prompt) -> Fields:
    """The first name of the last answer in place of the first pronoun."""
    follow_up = asked.user.rpartition("The follow-up question: ")[2]
    names = names_in(asked.data.rpartition("\nAnswer: ")[2])
    made = re.sub(r"\b(?:he|she|it|they)\b", names[0], follow_up, count=1) if names else follow_up
    return {"reasoning": "By the first name.", "question": made}


def _decompose(asked: Prompt) -> Fields:
    """A sub-question for each of the first names, or for each part of a list of numbers: the question itself."""
    names = names_in(asked.question)[:3]
    parts = [f"What is told of {name}?" for name in names] if len(names) > 1 else [asked.question]
    return {"sub_questions": parts, "types": [], "group": False}


def _fill_in(asked: Prompt) -> Fields:
    """The first name in the sentences before each question."""
    parts = re.split(r"^Question \d+: (.*)", asked.data, flags=re.MULTILINE)
    answers = []
    for found, question in zip(parts[::2], parts[1::2], strict=False):
        said = tell(question, re.findall(r"^\[[\d.]+\] (.*)", found, re.MULTILINE)).text
        answers.append(names_in(said, question)[:1])
    return {"answers": answers}


def _reflect(asked: Prompt) -> Fields:
    told = tell(asked.question, asked.sentences.values())
    name = told.lead(asked.question)
    query = f"{name} {' '.join(told.lacks)}" if name else ""
    return {"reasoning": "By shared words.", "query": query, "answer": "" if query else told.text}


def _from_piece(asked: Prompt) -> Fields:
    """With notes: all that helps is noted; the answer where no name is left to follow."""
    notes = asked.data.rpartition("\n\nNotes on what came before:\n")[2]
    noted = dict(re.findall(r"(\S.*?) \[(\d+\.\d+)\]", notes))
    numbers = noted | {said: number for number, said in asked.sentences.items()}
    told = tell(asked.question, numbers)
    said = [(each, next((numbers[one] for one in numbers if each in one), "")) for each in told.sentences]
    text = " ".join(f"{each} [{number}]" for each, number in said if number)
    is_done = bool(text) and not told.lead(asked.question)
    return {"evidence": [], "answer": text if is_done else "", "sufficient": is_done, "notes": text}


def _nodes(asked: Prompt) -> Fields:
    names = asked.data.partition("Nodes:\n")[2].splitlines()
    scored = sorted(((_likeness(name, asked.question), name) for name in names), key=lambda each: (-each[0], each[1]))
    return {"nodes": [{"node": name, "score": score} for score, name in scored[:10]]}


def _likeness(name: str, question: str) -> int:
    """0 to 100: the share of the name's words that the question has."""
    return 100 * shared(name, question) // max(1, len(stems_of(name)))


def _facts(asked: Prompt) -> Fields:
    """The passages whose facts share most with the question, two at most."""
    _, notebook, listed = _walk(asked, "Node: ")
    parts = re.split(r"^Passage (\d+): .*\n", listed.partition("Its facts")[2], flags=re.MULTILINE)[1:]
    wanted = {int(n): shared(asked.question, text) for n, text in zip(parts[::2], parts[1::2], strict=True)}
    best = sorted((number for number in wanted if wanted[number]), key=lambda n: (-wanted[n], n))[:2]
    return _step(notebook, "read_chunk" if best else "stop_and_read_neighbor", chunks=best)


def _passage(asked: Prompt) -> Fields:
    _, notebook, shown = _walk(asked, "Passage ")
    noted, numbers = _numbered(notebook), _numbered(shown)
    told = tell(asked.question, [*noted, *numbers])
    for said in told.sentences:
        if (number := next((numbers[each] for each in numbers if said in each), "")) and said not in noted:
            notebook += f"\n{said} [{number}]"
    complete = told.sentences and not told.lead(asked.question)
    return _step(notebook, "termination" if complete else "search_more")


def _neighbours(asked: Prompt) -> Fields:
    """A neighbour that the notebook names, else one that the question does."""
    done, notebook, listed = _walk(asked, "Node: ")
    names = [name for name in listed.partition("Its neighbours")[2].splitlines()[1:] if name and name not in done]
    found = next((name for text in (notebook, asked.question) for name in names if len(name) > 3 and name in text), "")
    action = {"action": "read_neighbor_node", "node": found} if found else {"action": "termination", "node": ""}
    return {"reasoning": "By shared words.", **action}


def _from_notebooks(asked: Prompt) -> Fields:
    """The noted sentences that answer, each with its number."""
    numbers = _numbered(asked.data)
    told = tell(asked.question, numbers)
    said = [(each, next((numbers[noted] for noted in numbers if each in noted), "")) for each in told.sentences]
    return _answered([(each, number) for each, number in said if number])


def _walk(asked: Prompt, label: str) -> tuple[str, str, str]:
    """Previous actions, notebook, and what is shown, which begins with ``label``."""
    done, _, rest = asked.data.partition("\n\nNotebook:\n")
    notebook, _, shown = rest.partition(f"\n\n{label}")
    return done, "" if notebook.strip() == "(empty)" else notebook.strip(), label + shown


def _numbered(text: str) -> dict[str, str]:
    """Sentences with their numbers, which stand before those of passages and behind those of notes."""
    before = re.findall(r"^\[(\d+\.\d+)\] (.+)$", text, re.MULTILINE)
    behind = re.findall(r"^(?!\[)(.+?) \[(\d+\.\d+)\](\W?)$", text, re.MULTILINE)
    return {said: number for number, said in before} | {said + end: number for said, number, end in behind}


def _answered(said: Sequence[tuple[str, str]]) -> Fields:
    """What is said, with the numbers of its sentences."""
    text = " ".join(f"{each} [{number}]" if number else each for each, number in said)
    numbers = [number for _, number in said if number]
    return {"evidence": numbers, "answer": text, "sufficient": bool(said)}


def _step(notebook: str, action: str, **more: object) -> Fields:
    return {"reasoning": "By shared words.", "notebook": notebook.strip(), "action": action, **more}


def _write_cypher(asked: Prompt) -> Fields:
    """What is told of the names that the question has, those that the prompt lists first; else of any words of it."""
    question = re.findall(r"^Question: (.+)", asked.user, re.MULTILINE)[-1]
    listed = asked.user.partition("Names that the question may mean:\n")[2].splitlines()
    known = [name for name in (line.rpartition(" (")[0] for line in listed) if name and name in question]
    names = known or names_in(question) or list(stems_of(question).values())
    statement = (
        "MATCH (e:Entity)<-[:SUBJECT|OBJECT|MENTIONS]-(f:Fact) WHERE any(name IN $names WHERE e.name CONTAINS name) "
        "RETURN DISTINCT f.text AS fact, f.id AS sources ORDER BY fact"
    )
    return {"statement": statement, "parameters": {"names": names}}


def _pause(asked: Prompt) -> Fields:
    labels = re.findall(r"^<(\d+)>$", asked.data, re.MULTILINE)
    return {"reasoning": "It is the one in the middle.", "break_point": int(labels[len(labels) // 2])}


def _gist(asked: Prompt) -> Fields:
    """The first sentence of each paragraph."""
    firsts = (sentences_of(each) for each in re.split(r"\n\s*\n", asked.data))
    return {"gist": "\n".join(each[0] for each in firsts if each)}


def _lookup(asked: Prompt) -> Fields:
    return {"reasoning": "By shared words.", "pages": _best_pages(asked)[:2]}


def _next_page(asked: Prompt) -> Fields:
    read = set(map(int, re.findall(r"\d+", asked.user.rpartition("Read again already: ")[2].partition("\n")[0])))
    page = next((number for number in _best_pages(asked) if number not in read), "STOP")
    return {"reasoning": "By shared words.", "page": page}


def _best_pages(asked: Prompt) -> list[int]:
    """Those whose gists share words with the question, most first."""
    found = {number: shared(asked.question, text) for number, text in asked.pages.items()}
    return sorted((number for number in found if found[number]), key=lambda each: (-found[each], each))


def _from_memory(asked: Prompt) -> Fields:
    numbers = _numbered(asked.data)
    told = tell(asked.question, _plain_pages(asked))
    said = [(each, next((numbers[line] for line in numbers if each in line), "")) for each in told.sentences]
    return _answered(said)


def _plain_pages(asked: Prompt) -> list[str]:
    return [re.sub(r"^\[\d+\.\d+\] ", "", text, flags=re.MULTILINE) for text in asked.pages.values()]


def _choose(asked: Prompt) -> Fields:
    """The option that shares most with what is remembered about the question."""
    options = re.findall(r"^\(([A-Z])\) (.+)", asked.user, re.MULTILINE)
    told = tell(asked.question, _plain_pages(asked)).text
    letter, _ = max(options, key=lambda each: (shared(each[1], told), -ord(each[0])))
    numbers = [number for line, number in _numbered(asked.data).items() if line in told]
    return {"evidence": numbers, "choice": letter}


def _member(asked: Prompt) -> Fields:
    instruction, sentences = asked.section("Instruction"), asked.sentences
    of_name = _ASKED_AGAIN.match(instruction)
    if of_name:
        said = tell_of(of_name["name"], of_name["question"], sentences.values())
    else:
        said = by_rank(instruction, "\n".join(sentences.values()), most=3)
    told = (said,) if said else () if of_name else tell(instruction, sentences.values()).sentences
    named = [number for number, text in sentences.items() if any(each in text for each in told)]
    return {"reasoning": "By shared words.", "mentioned": bool(told), "content": " ".join(told), "sentences": named}


def _decide(asked: Prompt) -> Fields:
    """An answer, or in the first round an instruction that asks for what a name was told of."""
    objective = asked.section("Objective")
    said = _said(asked)
    told = tell(objective, said)
    name = told.lead(objective)
    if name and re.match(r"Round 1 of (?!at most 1\.)", asked.messages[-1]["content"]):
        return _envelope("instruction", f"Say what is told of {name}, asked: {objective}")
    marks = dict.fromkeys(said[one] for each in told.sentences for one in said if each in one)
    return _envelope("answer", f"{told.text} {' '.join(marks)}".strip())


def _batch(asked: Prompt) -> Fields:
    objective = asked.section("Objective")
    said = _said(asked)
    return {"content": by_rank(objective, " ".join(said), most=3) or tell(objective, said).text or "-"}


def _said(asked: Prompt) -> dict[str, str]:
    """All members' replies, those of earlier rounds too, and the numbers of their sentences."""
    shown = [asked.section("Replies", each["content"]) for each in asked.messages[1:] if each["role"] == "user"]
    lines = re.findall(r"^Members? [\d-]+: (.*?)(?: (\[[\d., ]+\]))?(?: — “.*)?$", "\n".join(shown), re.MULTILINE)
    return dict(lines)


def _envelope(kind: str, content: str) -> Fields:
    """Of the leader, whichever form is asked for."""
    return {"type": kind, "content": content, "answer": content, "sufficient": bool(content)}


def _from_communities(asked: Prompt) -> Fields:
    """The facts that say most, or the statements that remain."""
    listed = dict(re.findall(r"^\[(\d+)\] (.+)$", asked.data, re.MULTILINE))
    told = tell(asked.question, listed.values())
    said = [(int(n), text) for n, text in listed.items() if any(each in text for each in told.sentences)]
    points = [{"point": text, "facts": [n], "score": 60} for n, text in said]
    return {"points": points, "items": []}


def _from_findings(asked: Prompt) -> Fields:
    """What was found that says most, with the numbers of its facts."""
    found = dict(re.findall(r"^- (.+?)((?: ?\[0\.\d+\])*)$", asked.data, re.MULTILINE))
    told = tell(asked.question, found)
    text = " ".join(f"{each}{found[each]}" for each in found if any(said in each for said in told.sentences))
    return {"evidence": [], "answer": text, "sufficient": bool(text)}


def _extract(asked: Prompt) -> Fields:
    """Facts alone, and what they name: all of it people, since nothing tells them from other things."""
    named = [(str(number), names_in(said)) for number, said in asked.sentences.items()]
    facts = [[number, *names] for number, names in named if names]
    entities = [[name, "Person"] for name in sorted({name for _, names in named for name in names})]
    return {"facts": facts, "entities": entities, "statements": [], "proposals": []}


_STATED = re.compile(r"\b[Tt]he ([a-z]+) of ((?:the )?[A-Z][\w ]*?) is (\w+(?: [A-Z]\w+)*)\.")
_ARTICLE = re.compile(r"\A(?:The|A|An|Since|Nobody|Some|It|On|In) (?=[A-Z])")
_NO_NAMES = {"The", "Since", "Nobody", "Some", "It", ""}


def _atomic_facts(asked: Prompt) -> Fields:
    """One fact a sentence that names something, with its names, or what it states of them, as key elements."""
    facts: list[list[str]] = []
    for number, sentence in asked.sentences.items():
        names = [_ARTICLE.sub("", name) for name in re.findall(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)*", sentence)]
        elements = [each for each in dict.fromkeys(names) if each not in _NO_NAMES]
        if stated := _STATED.search(sentence):
            elements = [stated[2].removeprefix("the "), stated[1], stated[3]]
        facts += [[str(number), "", *elements]] if elements else []
    return {"facts": facts}


def _name_communities(asked: Prompt) -> Fields:
    centres = re.findall(r"^Community (\d+), \d+ members?: (.+?)(?: \(|;|$)", asked.data, re.MULTILINE)
    return {"communities": [[f"Around {centre}", f"{n}.1"] for n, centre in centres]}


def _strict(asked: Prompt) -> Fields:
    agrees = _stands(asked.section("The right answer"), asked.section("What John answered"))
    return _rated(agrees="yes" if agrees else "no")


def _permissive(asked: Prompt) -> Fields:
    right, said = asked.section("The right answer"), asked.section("What John answered")
    if _stands(right, said):
        return _rated(agrees="yes")
    return _rated(agrees="partially" if shared(right, said) else "no")


def _judge(asked: Prompt) -> Fields:
    said = asked.section("The answer to be judged")
    return _rated(correct=int(any(_stands(each, said) for each in asked.section("The right answers").splitlines())))


def _rated(**verdict: str | int) -> Fields:
    return {"reasoning": "By shared words.", **verdict}


def _stands(right: str, said: str) -> bool:
    """Whether ``right`` stands in ``said``, word by word."""
    words = [" ".join(WORD.findall(each.lower())) for each in (right, said)]
    return bool(words[0]) and f" {words[0]} " in f" {words[1]} "


RULES: dict[str, Callable[[Prompt], str | Fields]] = {
    "models/trial": lambda prompt: "ready",
    "readers/answer": _answer,
    "readers/verify": _verify,
    "readers/standalone": _stand_alone,
    "youtu/decompose": _decompose,
    "youtu/fill_in": _fill_in,
    "youtu/reflect": _reflect,
    "baselines/chunk_notes": _from_piece,
    "graphreader/plan": lambda asked: {
        "steps": [f"Find sentences that have these words: {', '.join(stems_of(asked.question).values())}."]
    },
    "graphreader/nodes": _nodes,
    "graphreader/facts": _facts,
    "graphreader/chunk": _passage,
    "graphreader/neighbours": _neighbours,
    "graphreader/answer": _from_notebooks,
    "ingest/atomic_facts": _atomic_facts,
    "cypher/write": _write_cypher,
    "gist/pause": _pause,
    "gist/gist": _gist,
    "gist/merge": lambda asked: {"new_part": "no"},
    "readagent/lookup": _lookup,
    "readagent/lookup_ordered": _lookup,
    "readagent/next": _next_page,
    "readagent/answer": _from_memory,
    "readagent/choose": _choose,
    "longagent/expert": lambda asked: _envelope("member", "QA member"),
    "longagent/instruct": lambda asked: _envelope("instruction", asked.section("Objective")),
    "longagent/member": _member,
    "longagent/joint": _member,
    "longagent/group": lambda asked: {  # all replies contradict each other
        "groups": [{"members": [*range(1, 1 + len(asked.section("Replies").splitlines()))], "relation": "conflicting"}]
    },
    "longagent/decide": _decide,
    "longagent/end": _decide,
    "longagent/batch": _batch,
    "global_/map": _from_communities,
    "global_/merge": _from_communities,
    "global_/reduce": _from_findings,
    "ingest/extract": _extract,
    "tree/name_communities": _name_communities,
    **dict.fromkeys(
        (each for each in prompt_names() if each.startswith("mcp/")), lambda asked: "No tool can be called here."
    ),
    "evaluate/zero_shot": lambda asked: {"answer": "I do not know."},
    "evaluate/anonymity_zero_shot": lambda asked: {"answer": "I do not know."},
    "evaluate/rater_strict": _strict,
    "evaluate/rater_permissive": _permissive,
    "evaluate/rater_judge": _judge,
}


# Nothing is understood. The sentence that shares enough words with the question comes first; where it lacks some of
# them, one that has a name of it and words of those follows.

_SMALL_WORDS = (
    "a an the of in on at by to for from with into over under after before and or but if as that this these those it "
    "its he she his her they their them who whom whose which what when where why how is are was were be been being has "
    "have had do does did not no about there here than then so such one same tell told your part man later"
)
_SMALL = frozenset(_SMALL_WORDS.split())
WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(r"\b[A-Z][\w'’-]+(?: (?:(?:of|the|de|la|and|du) )?[A-Z][\w'’-]+)*")
_STEM = 5
_LEAST_SHARED, _LEAST_SHARE = 2, 0.25
_MOST_SENTENCES = 3
_KEPT = 50_000


@dataclass(frozen=True)
class Told:
    """The sentences that answer a question, best first, and the words of it that none of them has."""

    sentences: tuple[str, ...]
    lacks: tuple[str, ...]

    @property
    def text(self) -> str:
        """As a reply gives it; empty where nothing was told."""
        return " ".join(self.sentences)

    def lead(self, question: str) -> str:
        """A name that the sentences have and the question has not, from which to look on; empty where there is none."""
        return next(iter(names_in(self.text, question)), "") if self.lacks else ""


def tell(question: str, texts: Iterable[str]) -> Told:
    """What ``texts`` say to ``question``: the sentence with most of its words, then those that a name of it leads to.

    >>> tell("Where was the keeper of the Red Lamp born?", ["Ann Ottley was the keeper of the Red Lamp."]).lacks
    ('born',)
    """
    texts = list(texts)
    if ranked := by_rank(question, " ".join(texts)):
        return Told((ranked,), ())
    asked = stems_of(question)
    said = [(each, stems_of(each)) for text in texts for each in sentences_of(text)]
    first = _most(said, asked, _LEAST_SHARED)
    if first is None or len(asked.keys() & stems_of(first)) < _LEAST_SHARE * len(asked):
        return Told((), tuple(asked.values()))
    chosen = [first]
    lacking = _without(asked, first)
    while lacking and len(chosen) < _MOST_SENTENCES:
        names = names_in(" ".join(chosen), question)
        led = [(each, stems) for each, stems in said if each not in chosen and any(name in each for name in names)]
        following = _most(led, lacking, 1)
        if following is None:
            break
        chosen.append(following)
        lacking = _without(lacking, following)
    return Told(tuple(chosen), tuple(lacking.values()))


def tell_of(name: str, question: str, texts: Iterable[str]) -> str:
    """The sentence about ``name`` that has most words of ``question``; empty where there is none."""
    said = [(each, stems_of(each)) for text in texts for each in sentences_of(text) if name in each]
    return _most(said, _without(stems_of(question), name), 1) or ""


def shared(question: str, text: str) -> int:
    """How many words of ``question`` stand in ``text``."""
    return len(stems_of(question).keys() & stems_of(text).keys())


def names_in(text: str, question: str = "") -> list[str]:
    """The names in ``text`` that the question has not, in order, each once."""
    found = (_without_opener(each) for each in _NAME.findall(text))
    return [each for each in dict.fromkeys(found) if len(each) > 3 and each not in question]


def _most(said: Sequence[tuple[str, Mapping[str, str]]], asked: Mapping[str, str], least: int) -> str | None:
    """The sentence whose words in common with ``asked``, ``least`` at least, are the rarest; of equals the shortest.

    One that has no other words says nothing: it is a heading.
    """
    held = {stem: sum(stem in stems for _, stems in said) for stem in asked}
    best, chosen = (0.0, 0), None
    for each, stems in said:
        common = asked.keys() & stems.keys()
        if len(common) >= least and stems.keys() - asked.keys():
            score = (round(sum(log(1 + len(said) / held[stem]) for stem in sorted(common)), 9), -len(each))
            if chosen is None or score > best:
                best, chosen = score, each
    return chosen


def _without(asked: Mapping[str, str], text: str) -> dict[str, str]:
    found = stems_of(text)
    return {stem: word for stem, word in asked.items() if stem not in found}


@lru_cache(maxsize=_KEPT)
def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of ``text``, each on one line; the pairs of a dictionary apart."""
    found = (text[each.start : each.end] for each in sentences(text))
    lines = (line for each in found for line in re.split(r",\n|(?<=[.!?])\s", each))
    return tuple(" ".join(line.split()) for line in lines if line.strip())


@lru_cache(maxsize=_KEPT)
def stems_of(text: str) -> dict[str, str]:
    """The words that say something, by their first letters."""
    words = [word for word in WORD.findall(text) if word.lower() not in _SMALL and (len(word) > 1 or word.isdigit())]
    return {word.lower()[:_STEM]: word for word in reversed(words)}


def _without_opener(name: str) -> str:
    first, _, rest = name.partition(" ")
    return rest if first.lower() in _SMALL else name


def by_rank(question: str, text: str, *, most: int = 1) -> str:
    """Of a list of numbers the one of the rank that is asked for; the ``most`` that may be it."""
    rank = next((each for each in sorted(RANKS, key=len, reverse=True) if f"{each} number of the list" in question), "")
    numbers = sorted({int(each) for each in re.findall(r"\b\d{6}\b", text)})
    if not (rank and numbers):
        return ""
    if most > 1:
        return ", ".join(map(str, numbers[-most:][::-1]))
    return str(numbers[-min(RANKS[rank], len(numbers))])


def main() -> None:
    """Serve until standard input or the process ends; the address is the first line that is printed."""
    with OpenAIServer(reply) as server:
        print(server.base_url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            sys.exit(0)


if __name__ == "__main__":
    main()
