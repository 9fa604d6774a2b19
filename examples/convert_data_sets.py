"""Writes other data sets as one's own questions: ``python examples/convert_data_sets.py PATH… FOLDER``.

FOLDER gets ``questions.jsonl`` and ``corpus.jsonl``, which ``kgplatform evaluate FOLDER`` reads. PATH is a published
file of SQuAD, LongBench, LongBench v2, LV-Eval, InfiniteBench, Needle-in-a-Haystack PLUS, QuALITY, NarrativeQA or
GraphRAG-Bench (its questions and its corpus), or a table (CSV) whose first row has the keys of one's own questions.
docs/reference/data-sets.md says what is used of each.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kgplatform.sources.html_text import visible_text

Asked = tuple[dict[str, Any], str, str]
"""A question with the keys of one's own; the title and the text that it is about, both empty where there is none."""

TEXTBOOK_KINDS = {"FB": "fill in the blank", "MC": "multiple choice", "MS": "multiple select", "TF": "true or false"}
MOST_CHOICES = 26
HTML = re.compile(r"<(?:!doctype|html|body|p|br|pre|div|table)[\s>/]", re.IGNORECASE)


def squad(item: dict[str, Any], file: Path) -> Iterator[Asked]:
    """An article with its paragraphs, or a row of the form on Hugging Face."""
    rows = [(asked, part["context"]) for part in item.get("paragraphs", []) for asked in part["qas"]]
    for asked, context in rows or [(item, item["context"])]:
        answers = (
            asked["answers"]["text"] if isinstance(asked["answers"], dict) else [a["text"] for a in asked["answers"]]
        )
        found = {"id": asked["id"], "question": asked["question"], "answers": list(dict.fromkeys(answers))}
        yield (found if answers else found | {"answerable": False}), item.get("title", "text"), context


def context(item: dict[str, Any], file: Path) -> Iterator[Asked]:
    """LongBench, LV-Eval, InfiniteBench and Needle-in-a-Haystack PLUS: ``input``, ``context`` and ``answers``."""
    kind = item.get("dataset") or file.stem
    identity = str(item.get("_id") or f"{kind} {item['id'] if 'id' in item else item['line']}")
    choices = item.get("all_classes") or item.get("options") or []
    found = {
        "id": identity,
        "question": item["input"],
        "answers": item.get("answers", item.get("answer")),
        "kind": kind,
    }
    if len(choices) <= MOST_CHOICES:
        found["choices"] = choices
    if item.get("answer_keywords"):
        found["keywords"] = item["answer_keywords"]
    if "depth_percent" in item:
        depths = [f"{float(each) / 100:.6g}" for each in re.findall(r"[\d.]+", json.dumps(item["depth_percent"]))]
        known = kind.removeprefix("needle_")
        known = {"squad": "single", "hotpotqa": "multi"}.get(known, known)
        places = f"depth{'s' if len(depths) > 1 else ''} {'/'.join(depths)}"
        found |= {"id": str(item.get("id", identity)), "kind": f"{known}, {item['context_length']} tokens, {places}"}
    if item["input"]:  # a summary asks nothing
        yield found, identity, item["context"]


def longbench_v2(item: dict[str, Any], file: Path) -> Iterator[Asked]:
    """Four choices, and the letter of the right one."""
    choices = [item[f"choice_{letter}"] for letter in "ABCD"]
    found = {"id": item["_id"], "question": item["question"], "choices": choices, "answer": item["answer"]}
    yield found | {"kind": f"{item['difficulty']}, {item['length']}"}, item["_id"], item["context"]


def quality(item: dict[str, Any], file: Path) -> Iterator[Asked]:
    """An article with its questions; labels count from 1. The test split has none."""
    for number, asked in enumerate(item["questions"], 1):
        label = asked.get("gold_label", asked.get("writer_label"))
        if label is not None:
            found = {"id": asked.get("question_unique_id", f"{item['set_unique_id']}_{number}")}
            found |= {"question": asked["question"], "choices": asked["options"], "answer": asked["options"][label - 1]}
            yield found | {"kind": "hard" if asked.get("difficult") else "easy"}, item["title"], plain(item["article"])


def narrativeqa(item: dict[str, Any], file: Path) -> Iterator[Asked]:
    """A row of ``qaps.csv`` with its story in ``tmp/``, or an object of the form on Hugging Face with its text."""
    if "document_id" in item:
        document, story = item["document_id"], file.with_name("tmp") / f"{item['document_id']}.content"
        asked, answers, kind = item["question"], [item["answer1"], item["answer2"]], item["set"]
        text = story.read_bytes().decode("utf-8", "replace") if story.is_file() else ""
    else:
        about = item["document"]
        document, text, kind = about["id"], about.get("text", ""), about.get("kind", "")
        asked, answers = item["question"]["text"], [each["text"] for each in item["answers"]]
    found = {"id": f"{document[:12]} {item['line']}", "question": asked, "answers": answers, "kind": kind}
    if text:
        yield found, document, plain(text)


def graphrag_bench(item: dict[str, Any], file: Path) -> Iterator[Asked]:
    """Novels and medicine: the text is in the corpus, under the name of the question's source."""
    found = {"id": item["id"], "question": item["question"], "answer": item["answer"], "kind": item["question_type"]}
    evidence = item.get("evidence") or []
    yield found | {"facts": [evidence] if isinstance(evidence, str) else evidence}, item["source"], ""


def textbooks(item: dict[str, Any], file: Path) -> Iterator[Asked]:
    """The other GraphRAG-Bench: the name of the file is the kind, and several options of ``MS`` are right."""
    sort, answer = file.stem.upper(), item["Answer"]
    found = {"id": f"{file.stem} {item['line']}", "question": item["Question"], "kind": TEXTBOOK_KINDS.get(sort, sort)}
    options = item.get("Choices") or {}
    named = options if isinstance(options, dict) else {chr(ord("A") + at): each for at, each in enumerate(options)}
    if sort == "MS":
        listed = "\n".join(f"({letter}) {option}" for letter, option in sorted(named.items()))
        found["question"] += f"\n{listed}"
        answer = "; ".join(named[letter] for letter in sorted({each for each in str(answer) if each in named}))
    elif named or sort == "TF":
        found["choices"] = [named[letter] for letter in sorted(named)] or ["True", "False"]
    yield found | {"answers": answer}, "", ""


def own(item: dict[str, Any], file: Path) -> Iterator[Asked]:
    """A row of a table with the keys of one's own questions."""
    yield {key: value for key, value in item.items() if value and key != "line"}, "", ""


FORMATS = (
    ({"paragraphs", "title"}, squad),
    ({"question", "context", "answers"}, squad),
    ({"question", "context", "choice_A"}, longbench_v2),
    ({"input", "context"}, context),
    ({"article", "questions"}, quality),
    ({"document_id", "answer1"}, narrativeqa),
    ({"document", "answers"}, narrativeqa),
    ({"question", "source", "question_type"}, graphrag_bench),
    ({"Question", "Answer"}, textbooks),
    ({"question"}, own),
)
"""The keys by which an object is known, and what reads it."""
CORPORA = (
    (("corpus_name",), "context"),
    (("section", "subsection", "subsubsection"), "content"),
    (("title",), "text"),
)
"""The keys of a text's title and of the text, in a corpus."""


def plain(text: str) -> str:
    """``text`` without the tags of a page of HTML."""
    return visible_text(text.encode()) if HTML.search(text[: 1 << 14]) else text.strip()


def items(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON list, of JSON lines or of a table, with their number as ``line``."""
    text = file.read_text("utf-8-sig")
    if file.suffix == ".csv":
        found: Iterable[Any] = csv.DictReader(text.splitlines(keepends=True))
    else:
        try:
            value = json.loads(text)
        except ValueError:  # more than one value
            value = [json.loads(line) for line in text.splitlines() if line.strip()]
        found = value.get("data", [value]) if isinstance(value, dict) else value
    for number, item in enumerate(found, 1):
        yield {**item, "line": number}


def convert(paths: Iterable[Path], folder: Path) -> tuple[int, int]:
    """Write both files; returns the number of questions and of texts.

    A second text with one title gets a number. A question whose text is in no corpus is left out.
    """
    questions: list[Asked] = []
    texts: dict[str, str] = {}
    for file in paths:
        for item in items(file):
            corpus = next((keys for keys in CORPORA if {keys[0][0], keys[1]} <= item.keys()), None)
            if corpus and "question" not in item:
                texts[" ".join(filter(None, (item.get(key) for key in corpus[0])))] = item[corpus[1]]
                continue
            read = next((read for keys, read in FORMATS if keys <= item.keys()), None)
            if read is None:
                raise SystemExit(f"{file}: an object with the keys {', '.join(item)} is of no known data set.")
            questions += read(item, file)
    titles: dict[str, str] = {}
    copies: Counter[str] = Counter()
    # What SQuAD does not answer has no answer in its own paragraph alone; else all paragraphs are searched.
    pooled = not any("answerable" in question for question, _, _ in questions) and read is squad
    lines = []
    for question, title, text in questions:
        if text and text not in titles:
            copies[title] += 1
            titles[text] = f"{title} ({copies[title]})" if copies[title] > 1 else title
            texts[titles[text]] = text
        about = titles.get(text, title)
        if not title or about in texts:
            lines.append(question | ({"documents" if pooled else "within": [about]} if title else {}))
    folder.mkdir(parents=True, exist_ok=True)
    corpus_lines = [{"title": title, "text": text} for title, text in texts.items()]
    for name, written in (("questions.jsonl", lines), ("corpus.jsonl", corpus_lines)):
        if written:
            content = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in written)
            (folder / name).write_text(content, "utf-8")
    return len(lines), len(texts)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    *sources, target = map(Path, sys.argv[1:])
    print("{} questions about {} texts".format(*convert(sources, target)), "in", target)
