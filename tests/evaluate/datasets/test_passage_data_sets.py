"""MuSiQue, HotpotQA and 2WikiMultihopQA, in the shapes in which they are published; the content is made up."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from corpora import put_jsonl

from kgplatform.evaluate.datasets import load
from kgplatform.evaluate.terms import DataSet, Question, Text

HARBOUR = "Port Anselm is a harbour. It was built by Ina Roth."
PIANIST = "Ina Roth was born in Lund. She also played the piano."
RIVER = "The Vell is a river."


def paragraph(idx: int, title: str, text: str, supporting: bool = False) -> dict[str, Any]:
    return {"idx": idx, "title": title, "paragraph_text": text, "is_supporting": supporting}


MUSIQUE: dict[str, Any] = {
    "id": "2hop__11_22",
    "paragraphs": [
        paragraph(0, "Port Anselm", HARBOUR, True),
        paragraph(1, "Ina Roth", PIANIST, True),
        paragraph(2, "Port Anselm", RIVER),
    ],
    "question": "Where was the builder of Port Anselm born?",
    "question_decomposition": [
        {"id": 11, "question": "Who built Port Anselm?", "answer": "Ina Roth", "paragraph_support_idx": 0},
        {"id": 22, "question": "Where was #1 born?", "answer": "Lund", "paragraph_support_idx": 1},
    ],
    "answer": "Lund",
    "answer_aliases": ["Lund, Sweden", "Lund"],
    "answerable": True,
}

HOTPOT: dict[str, Any] = {
    "_id": "5a01",
    "question": "In which country was the builder of Port Anselm born?",
    "answer": "Sweden",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Port Anselm", 1], ["Ina Roth", 0], ["Port Anselm", 0]],
    "context": [
        ["Port Anselm", ["Port Anselm is a harbour.", " It was built by Ina Roth."]],
        ["Ina Roth", ["Ina Roth was born in Lund.", " She also played the piano."]],
        ["Vell", ["The Vell is a river."]],
    ],
}

TWO_WIKI: dict[str, Any] = {
    "_id": "8f77",
    "type": "compositional",
    "question": "Where was the builder of Port Anselm born?",
    "context": [
        ["Port Anselm", ["Port Anselm is a harbour.", "It was built by Ina Roth."]],
        ["Ina Roth", ["Ina Roth was born in Lund.", "She also played the piano."]],
    ],
    "entity_ids": "Q11_Q22",
    "supporting_facts": [["Port Anselm", 1], ["Ina Roth", 0]],
    "evidences": [["Port Anselm", "builder", "Ina Roth"], ["Ina Roth", "place of birth", "Lund"]],
    "answer": "Lund",
    "evidences_id": [["Q11", "builder", "Q22"], ["Q22", "place of birth", "Q2167"]],
    "answer_id": "Q2167",
}


def listed(file: Path, values: Any) -> Path:
    file.write_text(json.dumps(values, ensure_ascii=False, indent=1), "utf-8")
    return file


def changed(values: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return copy.deepcopy(values) | changes


def only(dataset: DataSet) -> Question:
    (question,) = dataset.questions
    return question


def test_musique(tmp_path: Path) -> None:
    dataset = load(put_jsonl(tmp_path / "musique_ans_v1.0_dev.jsonl", [MUSIQUE]))
    assert (dataset.name, dataset.apart, dataset.faults, dataset.skipped) == ("musique", False, (), 0)
    assert dataset.corpus == (Text("Port Anselm", HARBOUR), Text("Ina Roth", PIANIST), Text("Port Anselm", RIVER))
    assert only(dataset) == Question(
        id="2hop__11_22",
        text="Where was the builder of Port Anselm born?",
        answers=("Lund", "Lund, Sweden"),
        supports=(Text("Port Anselm", HARBOUR), Text("Ina Roth")),  # the title tells the second one, not the first
        parts=("Who built Port Anselm?", "Where was Ina Roth born?"),
        kind="2 hops",
    )


def test_unanswerable_questions_are_asked_apart_each_about_its_own_paragraphs(tmp_path: Path) -> None:
    """In one graph with all others, the paragraph that makes it unanswerable would be there."""
    twin = changed(MUSIQUE, answerable=False, paragraphs=[*MUSIQUE["paragraphs"][1:], paragraph(3, "Vell", RIVER)])
    dataset = load(put_jsonl(tmp_path / "musique_full_v1.0_dev.jsonl", [MUSIQUE, twin]))
    answerable, unanswerable = dataset.questions
    assert dataset.apart
    assert dataset.faults == ()
    assert [each.title for each in dataset.corpus] == ["Port Anselm", "Ina Roth", "Port Anselm (2)", "Vell"]
    assert answerable.within == ("Port Anselm", "Ina Roth", "Port Anselm (2)")
    assert answerable.supports == (Text("Port Anselm"), Text("Ina Roth"))
    assert (unanswerable.id, unanswerable.answers, unanswerable.answerable) == ("2hop__11_22 unanswerable", (), False)
    assert unanswerable.within == ("Ina Roth", "Port Anselm (2)", "Vell")
    assert (unanswerable.supports, unanswerable.parts) == ((), ())


def test_a_folder_as_hipporag_has_it(tmp_path: Path) -> None:
    corpus = [{"title": "Port Anselm", "text": HARBOUR}, {"title": "Ina Roth", "text": PIANIST}]
    corpus += [{"title": "Port Anselm", "text": RIVER}, {"title": "Elsewhere", "text": "Nothing of it."}]
    recording = [each | {"extracted_entities": ["Ina Roth"], "extracted_triples": []} for each in corpus]
    listed(tmp_path / "musique.json", [MUSIQUE])
    listed(tmp_path / "musique_corpus.json", [*corpus, corpus[0], {"title": "Empty", "text": " "}])
    listed(tmp_path / "openie.json", recording)
    dataset = load(tmp_path)
    assert [each.title for each in dataset.corpus] == ["Port Anselm", "Ina Roth", "Port Anselm", "Elsewhere"]
    assert dataset.faults == ('musique_corpus.json, item 6: "text" is empty; this text is left out.',)
    assert dataset.skipped == 0


def test_a_supporting_passage_that_the_corpus_lacks_is_told(tmp_path: Path) -> None:
    put_jsonl(tmp_path / "musique.jsonl", [MUSIQUE])
    listed(tmp_path / "corpus.json", [{"title": "Ina Roth", "text": PIANIST}])
    dataset = load(tmp_path)
    assert len(dataset.questions) == 1
    assert dataset.faults == (
        "musique: of 1 question a supporting passage is not in the corpus, so that it cannot be found; the first is "
        "2hop__11_22.",
    )


def test_hotpotqa(tmp_path: Path) -> None:
    dataset = load(listed(tmp_path / "hotpot_dev_distractor_v1.json", [HOTPOT]))
    assert (dataset.name, dataset.apart, dataset.faults) == ("hotpotqa", False, ())
    assert dataset.corpus == (Text("Port Anselm", HARBOUR), Text("Ina Roth", PIANIST), Text("Vell", RIVER))
    assert only(dataset) == Question(
        id="5a01",
        text="In which country was the builder of Port Anselm born?",
        answers=("Sweden",),
        supports=(Text("Port Anselm"), Text("Ina Roth")),
        facts=("It was built by Ina Roth.", "Ina Roth was born in Lund.", "Port Anselm is a harbour."),
        kind="bridge",
    )


def test_hotpotqa_with_its_lists_side_by_side(tmp_path: Path) -> None:
    """As on Hugging Face, where ``_id`` is ``id``."""
    values = {key: HOTPOT[key] for key in ("question", "answer", "type", "level")} | {
        "id": "5a01",
        "supporting_facts": {"title": ["Port Anselm", "Ina Roth", "Port Anselm"], "sent_id": [1, 0, 0]},
        "context": {"title": [t for t, _ in HOTPOT["context"]], "sentences": [s for _, s in HOTPOT["context"]]},
    }
    as_published = load(listed(tmp_path / "a.json", [HOTPOT]))
    side_by_side = load(put_jsonl(tmp_path / "b.jsonl", [values]))
    assert side_by_side.questions == as_published.questions
    assert side_by_side.corpus == as_published.corpus


def test_one_title_with_two_texts_keeps_both_and_supports_tell_which(tmp_path: Path) -> None:
    other = changed(HOTPOT, _id="5a02", context=[["Ina Roth", ["Another Ina Roth."]]], supporting_facts=[])
    other["supporting_facts"] = [["Ina Roth", 0]]
    dataset = load(listed(tmp_path / "dev.json", [HOTPOT, other]))
    assert [each.text for each in dataset.corpus if each.title == "Ina Roth"] == [PIANIST, "Another Ina Roth."]
    first, second = dataset.questions
    assert first.supports == (Text("Port Anselm"), Text("Ina Roth", PIANIST))
    assert second.supports == (Text("Ina Roth", "Another Ina Roth."),)


def test_a_supporting_sentence_that_does_not_exist_is_told_and_the_question_stays(tmp_path: Path) -> None:
    dataset = load(listed(tmp_path / "dev.json", [changed(HOTPOT, supporting_facts=[["Ina Roth", 0], ["Vell", 4]])]))
    assert only(dataset).facts == ("Ina Roth was born in Lund.",)
    assert only(dataset).supports == (Text("Ina Roth"), Text("Vell"))
    assert dataset.skipped == 0
    assert dataset.faults == (
        "dev.json, item 1: supporting sentence 4 of Vell is left out, for that passage has 1 sentence, counted from 0.",
    )


@pytest.mark.parametrize("packed", [False, True])
def test_2wiki(tmp_path: Path, packed: bool) -> None:
    """Some releases hold lists as texts of JSON. Its sentences have no space before them."""
    lists = {key: json.dumps(TWO_WIKI[key]) for key in ("context", "supporting_facts", "evidences")}
    dataset = load(listed(tmp_path / "dev.json", [TWO_WIKI | lists if packed else TWO_WIKI]))
    assert (dataset.name, dataset.faults) == ("2wiki", ())
    assert dataset.corpus == (Text("Port Anselm", HARBOUR), Text("Ina Roth", PIANIST))
    assert only(dataset) == Question(
        id="8f77",
        text="Where was the builder of Port Anselm born?",
        answers=("Lund",),
        supports=(Text("Port Anselm"), Text("Ina Roth")),
        facts=("It was built by Ina Roth.", "Ina Roth was born in Lund."),
        kind="compositional",
    )


def test_2wiki_takes_the_aliases_that_lie_beside_it(tmp_path: Path) -> None:
    file = listed(tmp_path / "dev.json", [TWO_WIKI])
    names = [{"Q_id": "Q2167", "aliases": ["Lund, Skåne"], "demonyms": ["Lundensian"]}]
    put_jsonl(tmp_path / "id_aliases.json", [*names, {"aliases": ["nobody's"]}])
    by_file, by_folder = load(file), load(tmp_path)
    assert only(by_file).answers == only(by_folder).answers == ("Lund", "Lund, Skåne", "Lundensian")
    assert by_file.faults == by_folder.faults == ('id_aliases.json, line 2: there is no "Q_id".',)


@pytest.mark.parametrize(
    ("values", "change", "reason"),
    [
        (
            MUSIQUE,
            {"question_decomposition": [{"question": "Where was #3 born?", "answer": "Lund"}]},
            '"question_decomposition" refers to #3, but has 1 part',
        ),
        (MUSIQUE, {"paragraphs": ["none"]}, '"paragraphs" holds a text, expected objects'),
        (HOTPOT, {"supporting_facts": [["Ina Roth", None]]}, '"supporting_facts" is null, expected a whole number'),
        (
            HOTPOT,
            {"supporting_facts": {"title": ["Port Anselm", "Ina Roth"], "sent_id": [1]}},
            '"supporting_facts" has 2 titles for 1, expected as many',
        ),
        (MUSIQUE, {"paragraphs": [paragraph(0, "Vell", " ", True)]}, '"paragraph_text" is empty'),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_used_is_named_and_its_question_skipped(
    tmp_path: Path, values: dict[str, Any], change: dict[str, Any], reason: str
) -> None:
    dataset = load(put_jsonl(tmp_path / "dev.jsonl", [values, changed(values, **change)]))
    assert dataset.faults == (f"dev.jsonl, line 2: {reason}; skipped.",)
    assert (len(dataset.questions), dataset.skipped) == (1, 1)
