"""Files and folders of data sets: which they are, what is wrong with them, how many of their questions are taken."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets import FORMATS, load

OWN = {"question": "Who?", "answer": "Odd"}
HOTPOT = {"question": "Who?", "answer": "Odd", "context": [["A", ["Odd."]]], "supporting_facts": [["A", 0]]}


def written(file: Path, content: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return file


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as refused:
        load(path)
    return str(refused.value)


@pytest.mark.parametrize(
    "content",
    [
        [OWN, OWN | {"question": "Where?"}],
        json.dumps([OWN, OWN | {"question": "Where?"}], indent=2),
        json.dumps(OWN) + "\n\n" + json.dumps(OWN | {"question": "Where?"}),
        "\ufeff" + json.dumps([OWN, OWN | {"question": "Where?"}]),
    ],
    ids=["list", "indented", "lines", "mark"],
)
def test_questions_stand_in_lists_and_lines(tmp_path: Path, content: Any) -> None:
    dataset = load(written(tmp_path / "q.json", content))
    assert [each.text for each in dataset.questions] == ["Who?", "Where?"]
    assert dataset.faults == ()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xef\xbb\xbf \n", "is empty."),
        ("[1]".encode("utf-16"), "is in UTF-16: save it again as UTF-8."),
        ('[{"question": "Où?"}]'.encode("latin-1"), "is not in UTF-8 throughout: save it again as UTF-8."),
        (gzip.compress(b"{}", mtime=0), "is an archive (gzip), not text; questions are read from JSON and JSON lines."),
        (b"PAR1" + bytes(100), "is a table (Parquet), not text; "),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer, not the file: run `git lfs pull`"),
        (b'[{"question": "Who?", "answer": "a"}, {"quest', "is broken (not valid JSON: unterminated string"),
        (b'[{"question": "Who?", "answer": "a"}', "is broken (not valid JSON: expecting ',' delimiter). If"),
        (b"Who?\nWhere?\n", "is in no known format of questions: found not valid JSON: expecting value; expected "),
    ],
)  # fmt: skip
def test_a_file_that_is_broken_as_a_whole_is_one_sentence(tmp_path: Path, content: bytes, reason: str) -> None:
    file = written(tmp_path / "q.json", content)
    assert refusal(file).startswith(f"{file} {reason}")


def test_a_file_of_another_format_is_told_with_what_was_expected_and_what_was_found(tmp_path: Path) -> None:
    file = written(tmp_path / "r.json", [{"claim": "x", "label": "y"}])
    told = refusal(file)
    assert "found an object with the keys claim, label; expected musique (" in told
    assert all(name in told for name in (*(each.name for each in FORMATS), "examples/convert_data_sets.py"))
    assert "found a list of values" in refusal(written(tmp_path / "t.json", [[1, 2]]))
    # Its text would not be used; the converter uses it.
    assert "examples/convert_data_sets.py" in refusal(written(tmp_path / "c.json", [OWN | {"context": "Odd did."}]))


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.json") == f"{tmp_path / 'no.json'}: there is no such file or folder."
    assert "cannot be opened: file name too long" in refusal(tmp_path / ("x" * 300))


def test_a_folder_without_questions_tells_what_is_there(tmp_path: Path) -> None:
    assert "holds no questions: found no JSON or JSON lines." in refusal(tmp_path)
    written(tmp_path / "corpus.json", [{"title": "A", "text": "Odd."}])
    written(tmp_path / "settings.json", {"colour": "red"})
    written(tmp_path / "empty.json", "")
    assert refusal(tmp_path).startswith(
        f"{tmp_path} holds no questions: found corpus.json (a corpus); {tmp_path / 'empty.json'} is empty; "
        "settings.json holds an object with the keys colour."
    )


def test_a_folder_with_several_files_of_questions_or_corpora_asks_which(tmp_path: Path) -> None:
    written(tmp_path / "a.json", [HOTPOT])
    own = written(tmp_path / "own.json", [OWN])
    assert refusal(tmp_path) == (
        f"{tmp_path} holds several files of questions: a.json, own.json. Leave only one there, or name the file of the "
        "questions."
    )
    own.unlink()
    for name in ("corpus.json", "other.json"):
        written(tmp_path / name, [{"title": "A", "text": "Odd."}])
    assert "holds several corpora: corpus.json, other.json. Leave only one there" in refusal(tmp_path)


def test_results_and_files_of_folders_below_are_no_questions(tmp_path: Path) -> None:
    written(tmp_path / "q.json", [OWN])
    written(tmp_path / "answers.jsonl", {"key": "a", "question": "q1", "setup": "youtu", "text": "Odd"})
    written(tmp_path / "q1.json", {"question": "Who?", "reader": "youtu", "trace": []})
    written(tmp_path / "a" / "q.json", [OWN])
    assert len(load(tmp_path).questions) == 1


def many(folder: Path, count: int) -> Path:
    values = [HOTPOT | {"_id": f"q{n}", "context": [["A", ["Odd."]], [f"T{n}", ["Text."]]]} for n in range(count)]
    return written(folder / f"{count}.json", values)


def test_a_limit_takes_the_first_questions_and_the_whole_corpus(tmp_path: Path) -> None:
    dataset = load(many(tmp_path, 20), limit=2)
    assert [each.id for each in dataset.questions] == ["q0", "q1"]
    assert len(dataset.corpus) == 21


def test_a_sample_is_the_same_every_time_and_a_larger_one_holds_it(tmp_path: Path) -> None:
    file = many(tmp_path, 60)
    small, large = load(file, sample=5), load(file, sample=20)
    assert load(file, sample=5) == small
    ids = [each.id for each in large.questions]
    assert set(ids) > {each.id for each in small.questions}
    assert ids == sorted(ids, key=lambda each: int(each[1:]))
    assert ids != [f"q{n}" for n in range(20)]
    assert len(small.corpus) == 61
    assert len(load(file, sample=100).questions) == 60
