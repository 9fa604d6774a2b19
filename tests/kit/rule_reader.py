"""A stand-in for a language model that understands nothing: it extracts and acts by matching strings.

    with OpenAIServer(RuleReader()) as server: ...

It reads statements of the form ``The X of Y is Z.`` and questions of the form ``What is the X of the W of Y?``. It is
what GraphReader is tested with where no model can be reached: what it finds, GraphReader's walk found for it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from model_by_prompt import Prompt

from kgplatform.prompt import Messages

_NAME = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_STATED = re.compile(r"\b[Tt]he ([a-z]+) of ((?:the )?[A-Z][\w ]*?) is (\w+(?: [A-Z]\w+)*)\.")
_LATER = re.compile(r"Since then it is (\w+)\.")
_ARTICLE = re.compile(r"\A(?:The|A|An|Since|Nobody|Some|It|On|In) (?=[A-Z])")
_NUMBERED = re.compile(r"^\[([\d.-]+)\] (.+)$", re.MULTILINE)
_NO_NAMES = {"The", "Since", "Nobody", "Some", "It"}


class RuleReader:
    """Messages of any of the platform's prompts to a reply. Without state, so it may serve several threads at once."""

    def __call__(self, messages: Messages) -> str:
        prompt = Prompt(messages)
        rules = {
            "graphreader/plan": lambda question, data: json.dumps({"steps": [f"Find {_relations(question)}"]}),
            "graphreader/nodes": self._nodes,
            "graphreader/facts": self._facts,
            "graphreader/chunk": self._chunk,
            "graphreader/neighbours": self._neighbours,
            "graphreader/answer": self._answer,
            "ingest/atomic_facts": lambda question, data: extract(prompt.sentences),
        }
        return rules.get(prompt.name, _from_text)(prompt.question, prompt.data)

    def _nodes(self, question: str, data: str) -> str:
        names = data.split("Nodes:\n", 1)[1].splitlines()
        scored = sorted(((_overlap(name, question), name) for name in names), key=lambda each: (-each[0], each[1]))
        return json.dumps({"nodes": [{"node": name, "score": score} for score, name in scored[:10]]})

    def _facts(self, question: str, data: str) -> str:
        notebook, facts = _notebook(data), data.rpartition("Its facts")[2]
        relation, subject = _wanted(question, notebook)
        told = [(int(number.partition(".")[0]), said) for number, said in _NUMBERED.findall(facts)]
        chosen = [passage for passage, said in told if subject in said and (relation in said or "was changed" in said)]
        return _read(notebook, list(dict.fromkeys(chosen)))

    def _chunk(self, question: str, data: str) -> str:
        notebook, shown = _notebook(data), data[data.index("\n\nPassage ") :]
        numbers = {said: number for number, said in _NUMBERED.findall(shown)}
        text = "\n".join(numbers)
        for _ in range(4):  # one statement may lead to the next in the same passage
            relation, subject = _wanted(question, notebook)
            found = _stated(relation, subject, text)
            if found is None:
                break
            number = next(numbers[said] for said in numbers if found in said)
            notebook += f"\n{found} [{number}]"
            if relation == _relations(question)[0]:
                return _step(notebook, "termination")
        later = _LATER.search(text)
        if later and f"The {relation} of {subject} was changed" in notebook + text:
            number = next(numbers[said] for said in numbers if later[0] in said)
            return _step(f"{notebook}\nThe {relation} of {subject} is {later[1]}. [{number}]", "termination")
        if f"The {relation} of {subject} was changed" in text and not later:
            return _step(f"{notebook}\nThe {relation} of {subject} was changed.", "read_subsequent_chunk")
        return _step(notebook, "search_more")

    def _neighbours(self, question: str, data: str) -> str:
        _, subject = _wanted(question, _notebook(data))
        names = data.rpartition("Its neighbours")[2].splitlines()[1:]
        done = data.partition("Notebook:")[0]
        fits = [name for name in names if name in (subject, subject.removeprefix("the ")) and name not in done]
        return _go(fits)

    def _answer(self, question: str, data: str) -> str:
        told: Counter[str] = Counter()
        numbers: dict[str, str] = {}
        for notebook in re.split(r"Notebook \d+:\n", _plain(data))[1:]:
            last = _last_stated(question, notebook)
            if last:
                told[last] += 1
                noted = re.findall(r"^(.+) \[(\d+\.\d+)\]$", notebook, re.MULTILINE)
                numbers.setdefault(last, next((number for said, number in noted if last in said), ""))
        if not told:
            return json.dumps({"answer": "", "sufficient": False})
        best = told.most_common(1)[0][0]
        return json.dumps({"evidence": [numbers[best]], "answer": best, "sufficient": True})


def extract(sentences: Mapping[str, str]) -> str:
    """One fact a sentence that names something, with its names and what it states of them as key elements."""
    facts: list[list[str]] = []
    for number, sentence in sentences.items():
        stated = _STATED.search(sentence)
        elements = [_ARTICLE.sub("", name) for name in _NAME.findall(sentence)]
        elements = [each for each in dict.fromkeys(elements) if each not in _NO_NAMES and each]
        if stated:
            elements = [stated[2].removeprefix("the "), stated[1], stated[3]]
        if elements:
            facts.append([str(number), "", *elements])
    return json.dumps({"facts": facts}, ensure_ascii=False)


def _from_text(question: str, data: str) -> str:
    """The readers of plain text: what a text says by itself, else that it does not."""
    numbers = {said: number for number, said in _NUMBERED.findall(data)}
    text = re.sub(r"^\[\d+\.\d+\] ", "", data, flags=re.MULTILINE)
    notebook = ""
    for _ in _relations(question):
        notebook += f"\n{_stated(*_wanted(question, notebook), text) or ''}"
    last = _last_stated(question, notebook)
    changed = text.partition(f"The {_relations(question)[0]} of {_subject(question)} was changed")[2]
    if not last and (later := _LATER.search(changed)):
        last = later[1]
    cited = [number for said, number in numbers.items() if last and f" is {last}." in said]
    return json.dumps({"evidence": cited[:1], "answer": last, "sufficient": bool(last)})


def _notebook(data: str) -> str:
    found = re.search(r"Notebook:\n(.*?)\n\n(?:Node|Passage)\b", data, re.S)
    return "" if found is None or found[1].strip() == "(empty)" else _plain(found[1].strip())


def _plain(notebook: str) -> str:
    """With the numbers behind the ends of its sentences."""
    return re.sub(r" (\[[\d.]+\])\.", r". \1", notebook)


def _step(notebook: str, action: str, chunks: Sequence[int] = ()) -> str:
    said = {"reasoning": "By matching strings.", "notebook": notebook.strip(), "action": action, "chunks": chunks}
    return json.dumps(said)


def _read(notebook: str, chosen: Sequence[int]) -> str:
    return _step(notebook, "read_chunk" if chosen else "stop_and_read_neighbor", chosen)


def _go(names: Sequence[str]) -> str:
    action = "read_neighbor_node" if names else "termination"
    return json.dumps({"reasoning": "By matching strings.", "action": action, "node": names[0] if names else ""})


def _relations(question: str) -> list[str]:
    """``What is the birthplace of the keeper of the Red Lamp?``: birthplace, keeper."""
    return re.findall(r"\bthe ([a-z]+) of\b", question)


def _subject(question: str) -> str:
    found = re.search(r" of ((?:the )?[A-Z][\w ]*)\?", question)
    return found[1] if found else ""


def _wanted(question: str, notebook: str) -> tuple[str, str]:
    """The relation and the subject to look for now: the innermost first, its answer as the subject of the next."""
    subject, relation = _subject(question), ""
    for relation in reversed(_relations(question)):
        found = _stated(relation, subject, notebook)
        if found is None or relation == _relations(question)[0]:
            return relation, subject
        subject = found.rpartition(" is ")[2].rstrip(".")
    return relation, subject


def _last_stated(question: str, text: str) -> str:
    relation, subject = _wanted(question, text)
    found = _stated(relation, subject, text)
    return found.rpartition(" is ")[2].rstrip(".") if found and relation == (_relations(question) or [""])[0] else ""


def _stated(relation: str, subject: str, text: str) -> str | None:
    if not relation or not subject:
        return None
    found = re.search(rf"The {relation} of {re.escape(subject)} is \w+(?: [A-Z]\w+)*\.", text)
    return found[0] if found else None


def _overlap(name: str, question: str) -> int:
    """100 where the question has the name; less for some of its words."""
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question):
        return 100
    words = set(re.findall(r"\w{4,}", name))
    return 50 * len(words & set(re.findall(r"\w+", question))) // max(1, len(words))
