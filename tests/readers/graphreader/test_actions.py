"""How a reply of the model is read: its notebook, its function, and the function's arguments."""

from __future__ import annotations

import pytest

from kgplatform.readers.graphreader.actions import (
    FALLBACK,
    FUNCTIONS,
    Stage,
    named,
    passage_numbers,
    read_step,
    undecorated,
)

NAMES = ["Danko Jones", "Danko Jones (band)", "Smile :)", "Paris, Texas", "O'Hara", "Toronto"]
FULL = "Updated Notebook: A is B.\nRationale for Next Action: C is missing.\nChosen Action: {}"


def test_every_stage_has_its_functions_and_a_fallback_among_them() -> None:
    assert {name for names in FUNCTIONS.values() for name in names} == {
        *("read_chunk", "stop_and_read_neighbor", "search_more", "read_previous_chunk", "read_subsequent_chunk"),
        *("termination", "read_neighbor_node"),
    }
    assert all(FALLBACK[stage] in FUNCTIONS[stage] for stage in FUNCTIONS)


@pytest.mark.parametrize("stage", list(FUNCTIONS))
def test_all_functions_of_a_stage_are_read(stage: Stage) -> None:
    for name in FUNCTIONS[stage]:
        read = read_step(FULL.format(f"{name}()"), stage)
        assert (read.notebook, read.function, read.fault) == ("A is B.", name, "")
        others = {other for names in FUNCTIONS.values() for other in names} - set(FUNCTIONS[stage])
        assert {read_step(FULL.format(f"{other}()"), stage).fault for other in others} == {"wrong stage"}


@pytest.mark.parametrize(
    ("reply", "numbers"),
    [
        (FULL.format('read_chunk(["ID-6"])'), (6,)),
        (FULL.format("read_chunk(ID-6)"), (6,)),
        (FULL.format("read_chunk(List[ID-6, ID-9])"), (6, 9)),
        (FULL.format("read_chunk([1, 3])"), (1, 3)),
        (FULL.format("**`read_chunk([ID-9, ID-6, ID-9])`**"), (9, 6)),
        (FULL.format('READ_CHUNK(\n  ["ID-6",\n   "ID-9"]\n)'), (6, 9)),
        (FULL.format("read_chunk ID-6, ID-9"), (6, 9)),
        (FULL.format('read_chunk(["ID-1003 (Lives of 1999)", "ID-1004"])'), (1003, 1004)),
        (FULL.format("I choose to read chunk(ID-6)."), (6,)),
        (FULL.format("read_chunk(["), ()),
        (FULL.format("read_chunk()"), ()),
        ("**Updated Notebook**:\nA is B.\n\n## Chosen Action:\n- read_chunk([ID-6])", (6,)),
        ("1. Updated Notebook: A is B.\n2. Rationale: x\n3. Chosen Action: read_chunk([ID-6])", (6,)),
        ('{"updated_notebook": "A is B.", "chosen_action": "read_chunk([\\"ID-6\\"])"}', (6,)),
        (
            '```json\n{"Updated Notebook": ["A is B."], "Chosen Action": {"name": "read_chunk", "args": "ID-6"}}\n```',
            (6,),
        ),
        ('{"notebook": "A is B.", "action": "read_chunk", "arguments": {"ids": ["ID-6", 9]}, }', (6,)),
        ("<think>Chosen Action: read_chunk(ID-1)</think>\n" + FULL.format("read_chunk(ID-6)"), (6,)),
        (FULL.format("read_chunk(ID-1)") + "\nNo, better:\nChosen Action: read_chunk(ID-6)", (6,)),
        ("Updated Notebook: A is B.\nI will call read_chunk([ID-6]) now.", (6,)),
    ],
)
def test_forms_of_a_call_with_passages(reply: str, numbers: tuple[int, ...]) -> None:
    read = read_step(reply, "facts")
    assert read.function == "read_chunk"
    assert passage_numbers(read.arguments) == numbers
    assert (read.notebook or "").startswith("A is B.")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Danko Jones", "Danko Jones"),
        ('"Danko Jones"', "Danko Jones"),
        ("danko  JONES", "Danko Jones"),
        ("Danko Jones (band)", "Danko Jones (band)"),
        ("Smile :)", "Smile :)"),
        ("Paris, Texas", "Paris, Texas"),
        ("key element of node: Toronto", "Toronto"),
        ('["Toronto"]', "Toronto"),
        ('"Atlantis", "Toronto"', "Toronto"),
        ("O'Hara", "O'Hara"),
        ("**Toronto**", "Toronto"),
        ("Atlantis", None),
        ("", None),
    ],
)
def test_names_are_found_as_written_or_normalised(words: str, name: str | None) -> None:
    read = read_step(f"Chosen Action: read_neighbor_node({words})", "neighbours")
    assert read.function == "read_neighbor_node"
    assert named(read.arguments, NAMES) == name


@pytest.mark.parametrize(
    ("reply", "function"),
    [
        ("Chosen Action: Read_Neighbour_Node(Toronto)", "read_neighbor_node"),
        ("Chosen Action: read neighbor node: Toronto", "read_neighbor_node"),
        ("Chosen Action: termination", "termination"),
        ("I end here with termination()", "termination"),
        ("*Termination*", "termination"),
        ("The termination of the contract was in 1990.", ""),
        ("", ""),
        ("Chosen Action:", ""),
        ("{}", ""),
        ("{broken", ""),
    ],
)
def test_the_function_is_told_from_plain_words(reply: str, function: str) -> None:
    assert read_step(reply, "neighbours").function == function


@pytest.mark.parametrize("same", ["None", "(none)", "N/A", "*unchanged*", "No change."])
def test_a_notebook_that_says_that_it_stays_is_empty_and_one_that_is_missing_is_none(same: str) -> None:
    assert read_step(f"Updated Notebook: {same}\nChosen Action: search_more()", "chunk").notebook == ""
    assert read_step("Updated Notebook:\nChosen Action: search_more()", "chunk").notebook is None
    assert read_step("Chosen Action: search_more()", "chunk").notebook is None


def test_a_document_that_a_notebook_quotes_chooses_nothing() -> None:
    reply = FULL.replace("A is B.", "A says:\nChosen Action: termination()\nand B agrees.").format("search_more()")
    assert read_step(reply, "chunk").function == "search_more"


@pytest.mark.parametrize(
    ("words", "bare"), [(' "A" ', "A"), ("[A]", "A"), ("(A)", "A"), ("`**A**`", "A"), ("Node: A", "A")]
)
def test_decoration_is_taken_off(words: str, bare: str) -> None:
    assert undecorated(words) == bare
