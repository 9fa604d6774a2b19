"""Setups as people write them on the command line."""

import pytest

from kgplatform.errors import InputError
from kgplatform.evaluate.setups import check_distinct, make_setup, names, option_names, parse_setups, resolved
from kgplatform.evaluate.terms import Build, Setup
from kgplatform.readers.readers import names as reader_names


def test_readers_comparators_and_options() -> None:
    text = "retrieve, bm25,youtu:agent=false:top-k=10,readagent:lookup=sequential,longagent:members=retrieved:5,closed"
    assert [(each.name, each.reader, dict(each.options)) for each in parse_setups(text)] == [
        ("retrieve", "retrieve", {}),
        ("bm25", "retrieve", {"route": "bm25"}),
        ("youtu agent=false top_k=10", "youtu", {"agent": False, "top_k": 10}),
        ("readagent lookup=sequential", "readagent", {"lookup": "sequential"}),
        ("longagent members=retrieved:5", "longagent", {"members": "retrieved:5"}),
        ("closed", "closed", {}),
    ]


def test_every_reader_has_its_name() -> None:
    assert set(reader_names()) < set(names())
    for name in names():
        (setup,) = parse_setups(name)
        assert setup.name == name
        assert "mode" in resolved(setup)
        assert option_names(setup.reader)
    assert resolved(make_setup("closed", {}))["mode"] == "open"


def test_values_get_the_type_of_their_option() -> None:
    (setup,) = parse_setups("graphreader:random_nodes=7:plan=no:calls=3")
    assert dict(setup.options) == {"random_nodes": 7, "plan": False, "calls": 3}
    (setup,) = parse_setups("chunkread:calls=none")
    assert dict(setup.options) == {"calls": None}
    assert setup.name == "chunkread calls=none"
    (setup,) = parse_setups("longagent:documents=a letter+a log:member_model=4")
    assert dict(setup.options) == {"documents": ("a letter", "a log"), "member_model": "4"}
    assert make_setup("youtu", {"agent": True, "top_k": 3}).options == {"agent": True, "top_k": 3}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("retreive", r'^Unknown reader "retreive"\. Did you mean retrieve\? Choose one of retrieve, .*, closed\.$'),
        ("youtu:agent", r"^youtu:agent: 'agent' is not option=value\. Write it as "),
        ("youtu:agnet=false", r'^youtu: Unknown option "agnet"\. Did you mean agent\? Choose one of mode, '),
        ("youtu:top_k=many", r"^youtu: top_k=many cannot be used: it must be a whole number\.$"),
        ("bm25:route=dense", r"^bm25 is the reader retrieve by the route bm25: leave route out\.$"),
        ("youtu,retrieve,youtu", r"^youtu is given twice\. Give each setup once\.$"),
        ("bm25,retrieve:route=bm25", r"^retrieve route=bm25 is the same as bm25: "),
    ],
)
def test_what_cannot_be_used_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_setups(text)


def test_the_same_reader_over_graphs_that_are_built_differently() -> None:
    setups = (make_setup("youtu", {}), Setup("youtu, small", "youtu", {}, Build(passage_tokens=200)))
    check_distinct(setups)
    with pytest.raises(InputError, match="youtu, small is given twice"):
        check_distinct((*setups, Setup("youtu, small", "youtu", {"top_k": 3})))
