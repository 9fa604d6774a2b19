"""Which of the scored nodes the walks begin at: the best, and not one thing in five spellings."""

from kgplatform.readers.graphreader.reader import diverse, opening
from kgplatform.search.evidence import NodePlaces


def places(**nodes: tuple[str, str]) -> dict[str, NodePlaces]:
    """Names with "_" for a blank: the letters of their facts and of their passages."""
    return {
        name.replace("_", " "): NodePlaces(frozenset(facts), frozenset(passages))
        for name, (facts, passages) in nodes.items()
    }


def test_five_spellings_of_one_thing_do_not_fill_all_paths() -> None:
    found = places(
        Brunel=("ab", "1"),
        Isambard_Brunel=("cd", "12"),
        I_K_Brunel=("e", "1"),
        Great_Eastern=("f", "3"),
        cable=("g", "4"),
    )
    scored = [("Brunel", 95), ("Isambard Brunel", 94), ("I K Brunel", 93), ("Great Eastern", 60), ("cable", 50)]
    assert diverse(scored, found, 3) == ["Brunel", "Great Eastern", "cable"]
    assert diverse(scored, found, 5) == ["Brunel", "Great Eastern", "cable", "Isambard Brunel", "I K Brunel"]


def test_a_node_without_facts_of_its_own_counts_half() -> None:
    found = places(mill=("ab", "1"), oats=("a", "1"), bridge=("c", "2"))
    assert diverse([("mill", 90), ("oats", 80), ("bridge", 41)], found, 2) == ["mill", "bridge"]
    assert diverse([("mill", 90), ("oats", 80), ("bridge", 39)], found, 2) == ["mill", "oats"]


def test_the_first_candidates_open_what_was_found_each_something_else() -> None:
    found = places(mill=("a", "1"), oats=("b", "1"), bridge=("c", "2"), valley=("d", "123456789"), fen=("e", "7"))
    names = ["mill", "oats", "valley", "fen", "bridge"]
    assert opening(names, found, ["1", "2", "3"]) == ["mill", "bridge", "valley", "oats", "fen"]
    assert opening(names, found, []) == names, "nothing was found: as they are near"
    assert opening(names, {}, ["1", "2"]) == names
