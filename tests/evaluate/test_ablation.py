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


def test_one_way_to_build_at_a_time(tmp_path: Path) -> None:
    grid = read_grid(
        write(
            tmp_path, "{readers: [retrieve], build: {passage_tokens: [200, 400], mode: [strict], one_at_a_time: true}}"
        )
    )
    assert names(grid) == ["retrieve", "retrieve, passage_tokens=200", "retrieve, passage_tokens=400"]
    assert [each.build.mode for each in grid.setups] == ["strict"] * 3


def test_a_schema_beside_the_grid_and_one_that_is_shipped(tmp_path: Path) -> None:
    (tmp_path / "ships.yaml").write_text("entities: {Ship: a vessel}", encoding="utf-8")
    grid = read_grid(write(tmp_path, "{readers: [retrieve], build: {schema: [ships.yaml, general]}}"))
    assert [each.build.schema for each in grid.setups] == [str(tmp_path / "ships.yaml"), "general"]


def test_names_tell_what_is_set_and_what_differs_in_the_build(tmp_path: Path) -> None:
    grid = read_grid(
        write(
            tmp_path,
            """
            readers:
              - retrieve
              - reader: youtu
                options: {agent: [true, false], steps: 5, without: [[], [path, entity]]}
                one_at_a_time: true
            build: {passage_tokens: [200, 400]}
            """,
        )
    )
    assert names(grid)[:4] == [
        "retrieve, passage_tokens=200",
        "youtu steps=5, passage_tokens=200",
        "youtu steps=5 agent=false, passage_tokens=200",
        "youtu steps=5 without=path+entity, passage_tokens=200",
    ]


# ------------------------------------------------------------------------------------------------------------ faults


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this must be a mapping with readers, build, corpus. It needs readers:"),
        ("- youtu", "this must be a mapping with readers"),
        ("{reader: youtu}", 'Unknown key "reader". Did you mean readers? Choose one of readers, build, corpus.'),
        ("build: {}", "there are no readers"),
        ("readers: []", "there are no readers"),
        ("readers: youtu", "there are no readers"),
        ("readers: [yotu]", 'reader 1: Unknown reader "yotu". Did you mean youtu?'),
        ("readers: [{options: {}}]", "reader 1: the reader has no name. Write reader: retrieve."),
        ("readers: [retrieve, {reader: youtu, option: {}}]", 'reader 2: Unknown key "option". Did you mean options?'),
        (
            "readers: [{reader: youtu, options: {agnet: [true]}}]",
            'reader 1, youtu, options: Unknown key "agnet". Did you mean agent? Choose one of mode, agent,',
        ),
        ("readers: [{reader: youtu, options: {agent: []}}]", "youtu, options: agent has no value. Write agent: ["),
        ("readers: [{reader: youtu, options: {top_k: [5, many]}}]", "youtu: youtu: top_k=many cannot be used"),
        ("readers: [{reader: youtu, options: {top_k: [0]}}]", "youtu: top_k must be at least 1."),
        ("readers: [{reader: youtu, options: {without: [paths]}}]", 'Unknown route "paths". Did you mean path?'),
        ("readers: [{reader: longagent, options: {conflict: [some]}}]", 'Unknown conflict "some"'),
        ("readers: [{reader: youtu, options: [agent]}]", "options: this must be a mapping with mode, agent"),
        ("readers: [{reader: youtu, one_at_a_time: always}]", "one_at_a_time is 'always'. Write true or false."),
        ("readers: [youtu, youtu]", "youtu is given twice. Give each setup once."),
        ("readers: [youtu, {reader: youtu, options: {agent: true}}]", "youtu agent=true is the same as youtu"),
        ("{readers: [youtu], readers: [retrieve]}", "line 1: not valid YAML ('readers' is given twice)"),
        ("readers: [youtu\nbuild: {}", "not valid YAML"),
        ("{readers: [youtu], build: {passages: 200}}", 'build: Unknown key "passages"'),
        ("{readers: [youtu], build: {passage_tokens: [5]}}", "build, passage_tokens: "),
        ("{readers: [youtu], build: {passage_tokens: [some]}}", "build, passage_tokens: "),
        ("{readers: [youtu], build: {extractor: [lokal]}}", 'Unknown extractor "lokal". Did you mean local?'),
        ("{readers: [youtu], build: {mode: [strikt]}}", 'Unknown mode "strikt". Did you mean strict?'),
        ("{readers: [youtu], build: {schema: [nowhere.yaml]}}", "build, schema: "),
        ("{readers: [youtu], build: {gist: [article]}}", "build, gist: this must be a mapping with preset, min_words"),
        (
            "{readers: [youtu], build: {gist: {min_word: 3}}}",
            'build, gist: Unknown key "min_word". Did you mean min_wo',
        ),
        ("{readers: [youtu], build: {gist: {min_words: few}}}", "build, gist: min_words: "),
        ("{readers: [youtu], build: {gist: {min_words: 9, max_words: 3}}}", "build, gist: A page cannot have at least"),
        ("{readers: [youtu], build: {gist: {preset: poem}}}", 'build, gist: Unknown preset "poem"'),
        ("{readers: [youtu], corpus: nowhere}", "nowhere does not exist. Paths are relative to the folder of"),
        ("{readers: [youtu], corpus: [{a: b}]}", "corpus: this is not a path"),
        (
            f"readers: [{{reader: youtu, options: {{top_k: {list(range(1, MOST + 2))}}}}}]",
            f"reader 1, youtu: the grid makes {MOST + 1} setups; the limit is {MOST}. Vary fewer options.",
        ),
        (
            f"{{readers: [retrieve, youtu], build: {{passage_tokens: {list(range(100, 100 + MOST))}}}}}",
            f"the grid makes {2 * MOST} setups",
        ),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(InputError, match=re.escape(said)) as told:
        read_grid(file)
    assert str(told.value).startswith(str(file))
    assert "\n" not in str(told.value)


def test_a_grid_of_millions_is_refused_before_it_is_made(tmp_path: Path) -> None:
    many = list(range(1, 101))
    options = f"{{top_k: {many}, steps: {many}, sub_questions: {many}, evidence_tokens: {many}}}"
    with pytest.raises(InputError, match="the grid makes 100,000,000 setups"):
        read_grid(write(tmp_path, f"readers: [{{reader: youtu, options: {options}}}]"))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml: the grid cannot be read"):
        read_grid(tmp_path / "nowhere.yaml")
    (tmp_path / "grid.yaml").write_bytes(b"readers: [\xff]")
    with pytest.raises(InputError, match="the grid cannot be read"):
        read_grid(tmp_path / "grid.yaml")
