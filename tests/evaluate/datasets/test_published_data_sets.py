"""The loaders on real files of data sets, where they are: `KGPLATFORM_BENCH_DATA` names their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kgplatform.errors import InputError
from kgplatform.evaluate.datasets import load
from kgplatform.evaluate.terms import DataSet

DATA = Path(os.environ.get("KGPLATFORM_BENCH_DATA", Path(__file__).parents[4] / "shared" / "data"))


def loaded(name: str) -> DataSet:
    return load(folder(name))


def folder(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip(f"The data is not there: {DATA / name}. KGPLATFORM_BENCH_DATA names the folder that holds {name}.")
    return DATA / name


def test_musique() -> None:
    dataset = loaded("musique")
    assert (dataset.name, len(dataset.questions), len(dataset.corpus)) == ("musique", 50, 1890)
    assert dataset.faults == ()
    titles = {each.title for each in dataset.corpus}
    assert all(2 <= len(each.supports) <= 4 and each.parts and each.answers for each in dataset.questions)
    assert all(support.title in titles for each in dataset.questions for support in each.supports)
    assert not any("#1" in part for each in dataset.questions for part in each.parts)
    assert {each.kind for each in dataset.questions} == {"2 hops", "3 hops", "4 hops"}


def test_hotpotqa() -> None:
    dataset = loaded("hotpotqa")
    assert (dataset.name, len(dataset.questions), len(dataset.corpus)) == ("hotpotqa", 200, 1971)
    assert dataset.faults == ()
    assert all(len(each.supports) == 2 and len(each.facts) >= 2 and each.answers for each in dataset.questions)
    assert {each.kind for each in dataset.questions} == {"bridge", "comparison"}


def test_a_corpus_without_questions_is_no_data_set() -> None:
    with pytest.raises(InputError, match=r"holds no questions: found corpus\.json \(a corpus\)\."):
        load(folder("2wiki"))
