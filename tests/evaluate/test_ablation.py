"""A grid in YAML: which setups it means, their names, what differs between them, and every fault by its place."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from kgplatform.errors import InputError
from kgplatform.evaluate.setups import MOST, Grid, read_grid
from kgplatform.evaluate.terms import Build


def write(folder: Path, text: str) -> Path:
    file = folder / "grid.yaml"
    file.write_text(dedent(text), encoding="utf-8")
    return file


def names(grid: Grid) -> list[str]:
    return [each.name for each in grid.setups]


# ---------------------------------------------------------------------------------------------------------- readers


def test_every_combination_of_a_readers_options(tmp_path: Path) -> None:
    grid = read_grid(
        write(
            tmp_path,
            """
            readers:
              - retrieve
              - reader: youtu
                options: {agent: [true, false], community: [true, false], top_k: 5}
            """,
        )
    )
    assert names(grid) == [
        "retrieve",
        "youtu agent=true community=true top_k=5",
        "youtu agent=true community=false top_k=5",
        "youtu agent=false community=true top_k=5",
        "youtu agent=false community=false top_k=5",
    ]
    assert grid.setups[2].options == {"agent": True, "community": False, "top_k": 5}
    assert (grid.setups[0].build, grid.corpus) == (Build(), ())


def test_one_option_at_a_time_beside_the_usual_setup(tmp_path: Path) -> None:
    grid = read_grid(
        write(
            tmp_path,
            """
            readers:
              - reader: graphreader
                options: {nodes: [1, 3, 5, 7], window_tokens: [2048, 4096]}
                one_at_a_time: true
              - reader: longagent
                options: {conflict: [group, off], rounds: 3}
                one_at_a_time: true
            """,
        )
    )
    assert names(grid) == [
        "graphreader",
        "graphreader nodes=1",
        "graphreader nodes=3",
        "graphreader nodes=7",
        "graphreader window_tokens=2048",
        "graphreader window_tokens=4096",
        "longagent rounds=3",
        "longagent rounds=3 conflict=off",
    ], "the values by default (5 nodes, a conflict in a group) stand in the table already"
    assert grid.setups[-1].options == {"rounds": 3, "conflict": "off"}, "off is a word here, and not false"


def test_an_option_of_several_values_is_varied_over_lists(tmp_path: Path) -> None:
    grid = read_grid(
        write(tmp_path, "readers: [{reader: youtu, options: {without: [[], path, [path, entity]]}}, {reader: bm25}]")
    )
    assert [each.options.get("without") for each in grid.setups[:3]] == [(), ("path",), ("path", "entity")]
    assert names(grid)[1:] == ["youtu without=path", "youtu without=path+entity", "bm25"]


# ----------------------------------------------------------------------------------------------------------- builds


def test_graphs_of_their_own_for_each_way_to_build(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    grid = read_grid(
        write(
            tmp_path,
            """
            readers: [retrieve, readagent]
            build:
              passage_tokens: [200, 400]
              extractor: local
              gist: [{min_words: 100, max_words: 200}, {preset: book}]
            corpus: texts
            """,
        )
    )
    assert names(grid)[:3] == [
        "retrieve, passage_tokens=200 min_words=100 max_words=200",
        "readagent, passage_tokens=200 min_words=100 max_words=200",
        "retrieve, passage_tokens=200 preset=book",
    ]
    assert len(set(names(grid))) == 8
    assert grid.setups[0].build == Build(200, "local", gist={"min_words": 100, "max_words": 200})
    assert grid.corpus == (tmp_path / "texts",)


def test_a_schema_beside_the_grid_and_one_that_is_shipped(tmp_path: Path) -> None:
    (tmp_path / "ships.yaml").write_text("entities: {Ship: a vessel}", encoding="utf-8")
    grid = read_grid(write(tmp_path, "{readers: [retrieve], build: {schema: [ships.yaml, general]}}"))
    assert [each.build.schema for each in grid.setups] == [str(tmp_path / "ships.yaml"), "general"]


# ------------------------------------------------------------------------------------------------------------ faults


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- youtu", "the grid: Input should be a valid dictionary"),
        ("build: {}", "readers: Field required."),
        ("readers: [retrieve, {reader: youtu, option: {}}]", "readers.2.option: Extra inputs are not permitted."),
        ("readers: [{reader: youtu, options: {agnet: [true]}}]", 'youtu: Unknown option "agnet". Did you mean agent?'),
        ("readers: [{reader: youtu, options: {agent: []}}]", "readers.1.options.agent: Value should have at least 1"),
        ("readers: [youtu, youtu]", "youtu is given twice. Give each setup once."),
        ("{readers: [youtu], readers: [retrieve]}", "line 1: not valid YAML ('readers' is given twice)"),
        ("readers: [youtu\nbuild: {}", "not valid YAML"),
        ("{readers: [youtu], build: {passage_tokens: [5]}}", "PASSAGE_TOKENS: Input should be greater than"),
        ("{readers: [youtu], build: {schema: [nowhere.yaml]}}", 'Unknown schema "nowhere.yaml"'),
        ("{readers: [youtu], build: {gist: {min_words: 9, max_words: 3}}}", "A page cannot have at least"),
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


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml: the grid cannot be read"):
        read_grid(tmp_path / "nowhere.yaml")
    (tmp_path / "grid.yaml").write_bytes(b"readers: [\xff]")
    with pytest.raises(InputError, match="the grid cannot be read"):
        read_grid(tmp_path / "grid.yaml")
