"""What the readers' tests share: where an answer's citations lead, its steps, and evidence that no store has."""

from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from kgplatform.records import Answer, FoundFact, FoundPassage, Step


def cited(answer: Answer) -> list[tuple[str, str]]:
    """Title and words of each citation, read from the file that it names."""
    files = [Path(url2pathname(urlparse(each.document).path)) for each in answer.citations]
    texts = [file.read_text(encoding="utf-8") for file in files]
    return [(each.title, text[each.start : each.end]) for each, text in zip(answer.citations, texts, strict=True)]


def steps_of(answer: Answer, name: str) -> list[Step]:
    """The steps of this name, numbered or not."""
    return [step for step in answer.trace if step.name == name or step.name.startswith(f"{name} ")]


def passage(id_: str, text: str, score: float = 1.0, title: str = "note") -> FoundPassage:
    """A passage that no store has."""
    return FoundPassage(id_, f"file:///{id_}", title, 0, len(text), None, text, score, ("passage",))


def fact(id_: str, text: str, score: float = 1.0) -> FoundFact:
    """A fact that no store has."""
    return FoundFact(id_, text, score, ("triple",), ())
