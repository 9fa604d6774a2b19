"""A grid in YAML: which setups it means, their names, what differs between them, and every fault by its place."""

import re
from pathlib import Path
from textwrap import dedent

import pytest

from kgplatform.errors import InputError
from kgplatform.evaluate.setups import MOST, read_grid
from kgplatform.evaluate.terms import Build


def write(folder: Path, text: str) -> Path:
    file = folder / "grid.yaml"
    file.write_text(dedent(text), encoding="utf-8")
    return file


def test_every_combination_of_a_readers_options_or_one_option_at_a_time(tmp_path: Path) -> None:
    setups, corpus = read_grid(
        write(
            tmp_path,
            """
            readers:
              - retrieve
              - reader: youtu
                options: {agent: [true, false], without: [[], [path, entity]], top_k: 5}
              - reader: graphreader
                options: {nodes: [1, 3, 5], window_tokens: [2048, 4096]}
                one_at_a_time: true
              - reader: longagent
                options: {conflict: [group, off], rounds: 3}
                one_at_a_time: true
            """,
        )
    )
    assert [each.name for each in setups] == [
        *("retrieve", "youtu agent=true without= top_k=5", "youtu agent=true without=path+entity top_k=5"),
        *("youtu agent=false without= top_k=5", "youtu agent=false without=path+entity top_k=5", "graphreader"),
        *("graphreader nodes=1", "graphreader nodes=3", "graphreader window_tokens=2048"),
        *("graphreader window_tokens=4096", "longagent rounds=3", "longagent rounds=3 conflict=off"),
    ], "the values by default (5 nodes, a conflict in a group) stand in the table already"
    assert setups[4].options == {"agent": False, "without": ("path", "entity"), "top_k": 5}
    assert setups[-1].options == {"rounds": 3, "conflict": "off"}, "off is a word here, and not false"
    assert (setups[0].build, corpus) == (Build(), ())


def test_graphs_of_their_own_for_each_way_to_build(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "ships.yaml").write_text("entities: {Ship: a vessel}", encoding="utf-8")
    setups, corpus = read_grid(
        write(
            tmp_path,
            """
            readers: [retrieve, readagent]
            build:
              passage_tokens: [200, 400]
              extractor: local
              schema: [ships.yaml, general]
              gist: [{min_words: 100, max_words: 200}, {preset: book}]
            corpus: texts
            """,
        )
    )
    names, ours = [each.name for each in setups], str(tmp_path / "ships.yaml")
    assert names[2:4] == [
        f"{reader}, passage_tokens=200 schema={ours} preset=book" for reader in ("retrieve", "readagent")
    ]
    assert len(set(names)) == 16
    assert setups[0].build == Build(200, "local", ours, gist={"min_words": 100, "max_words": 200})
    assert setups[-1].build.schema == "general"
    assert corpus == (tmp_path / "texts",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- youtu", "the grid: Input should be a valid dictionary"),
        ("readers: [retrieve, {reader: youtu, option: {}}]", "readers.2.option: Extra inputs are not permitted."),
        ("readers: [{reader: youtu, options: {agnet: [true]}}]", 'youtu: Unknown option "agnet". Did you mean agent?'),
        ("readers: [youtu, youtu]", "youtu is given twice. Give each setup once."),
        (
            "{readers: [youtu], readers: [retrieve]}",
            "not valid YAML ('readers' is given twice in \"<unicode string>\", line 1",
        ),
        ("{readers: [youtu], build: {passage_tokens: [5]}}", "PASSAGE_TOKENS: Input should be greater than"),
        ("{readers: [youtu], build: {schema: [nowhere.yaml]}}", 'Unknown schema "nowhere.yaml"'),
        ("{readers: [youtu], corpus: nowhere}", "nowhere does not exist. Paths are relative to the folder of"),
        (
            f"{{readers: [retrieve, youtu], build: {{passage_tokens: {list(range(100, 100 + MOST))}}}}}",
            f"the grid makes {2 * MOST} setups; the limit is {MOST}. Vary fewer options.",
        ),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(InputError, match=re.escape(said)) as told:
        read_grid(file)
    assert str(told.value).startswith(str(file))
    assert "\n" not in str(told.value)
