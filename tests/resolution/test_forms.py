"""Names that are alike, and key elements that are one thing in different words: by stems, by meaning, in any order."""

from collections.abc import Mapping, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import wipe
from corpora import difference, put, put_jsonl
from graph_state import snapshot
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.resolution import (
    Form,
    Group,
    KeyElement,
    Shown,
    are_alike,
    best_name,
    changes,
    forms_of,
    found_by,
    groups,
    may_be_one,
    stem_of,
)
from kgplatform.settings import Settings
from kgplatform.text import normalise_name

pytestmark = pytest.mark.indexes


@pytest.mark.parametrize(
    "names",
    [
        ("Hard rock band", "hard-rock bands", " HARD  ROCK BAND "),
        ("virus", "viruses"),
        ("therapy", "therapies"),
        ("Alzheimer's disease", "Alzheimer disease", "Alzheimer’s diseases"),
        ("ｆｉｌｍ", "film", "films"),
    ],
)
def test_forms_of_one_name_have_one_stem(names: tuple[str, ...]) -> None:
    assert len({stem_of(name) for name in names}) == 1


@pytest.mark.parametrize(
    "names",
    [
        *(("organ", "organization", "organic"), ("university", "universe", "universal"), ("Marie", "Mary")),
        *(("AIDS", "aid"), ("45", "-45", "45%", "4.5", "4,5", "4 5", "45s"), ("1990", "1990s", "1990's", "1991")),
        *(("鲁迅", "鲁迅们"), ("Москва", "Москвы")),
    ],
)
def test_other_names_have_other_stems(names: tuple[str, ...]) -> None:
    assert len({stem_of(name) for name in names}) == len(names)


def test_proper_names_keep_their_plurals() -> None:
    """What passages write with a capital throughout is a name; one passage that does not shows that it is none."""
    assert stem_of("Williams", ["Williams"]) != stem_of("William", ["William"])
    assert stem_of("Greeks", ["Greeks"]) == stem_of("Greek", ["Greek"]), "a people"
    assert stem_of("Vane Awards", ["Vane Awards"]) == stem_of("Vane Award", ["Vane Award"]), "a kind of thing"
    assert stem_of("Cables", ["Cables", "cables"]) == stem_of("cable", ["cable"])
    assert stem_of("HIV viruses", ["HIV viruses"]) == stem_of("HIV virus", ["HIV virus"])


def test_a_stem_is_never_empty() -> None:
    assert [stem_of(name) for name in ("...", "’", "Москва", "鲁迅")] == ["...", "’", "москва", "鲁迅"]


@pytest.mark.parametrize(
    ("one", "other", "may"),
    [
        *(("hard rock trio", "hard rock band", True), ("canadian", "canada", True)),
        *(("film of 1990", "film of 1991", False), ("stage ii", "stage iii", False), ("husband", "wife", False)),
    ],
)
def test_numbers_and_opposites_must_agree(one: str, other: str, may: bool) -> None:
    assert may_be_one(one, other) is may_be_one(other, one) is may


def elements(**stems: str) -> dict[str, KeyElement]:
    """By id; the stem of an entity begins with a capital."""
    return {each: KeyElement(stem.lower(), stem[0].isupper()) for each, stem in stems.items()}


def members(found: Sequence[Group]) -> set[tuple[str, ...]]:
    return {group.members for group in found}


def test_one_stem_is_one_group_whatever_the_type() -> None:
    assert members(groups(elements(a="Toronto", b="toronto", c="Toronto", d="ottawa"), [])) == {("a", "b", "c")}


def test_meaning_joins_what_is_no_entity() -> None:
    known = elements(a="band", b="trio", c="Rush")
    assert members(groups(known, [(0.9, "a", "b")])) == {("a", "b")}
    assert members(groups(known, [(0.9, "a", "c")])) == {("a", "c")}


def test_two_entities_are_never_joined_over_a_plain_element() -> None:
    known = elements(a="Canada", b="canadian", c="Canadians of Quebec")
    assert members(groups(known, [(0.9, "b", "a"), (0.95, "b", "c")])) == {("b", "c")}
    same_stem = elements(a="Canada", b="canada", c="Kanada")
    assert members(groups(same_stem, [(0.99, "b", "c")])) == {("a", "b")}


def test_no_chain_of_likenesses_leads_astray() -> None:
    known = elements(a="warm", b="tepid", c="cool", d="cold")
    pairs = [(0.9, "a", "b"), (0.89, "b", "c"), (0.95, "c", "d")]
    assert members(groups(known, pairs)) == {("a", "b"), ("c", "d")}
    assert members(groups(known, [*pairs, (0.88, "a", "c"), (0.88, "a", "d"), (0.88, "b", "d")])) == {
        ("a", "b", "c", "d")
    }


def test_the_order_of_elements_and_pairs_does_not_matter() -> None:
    known = elements(a="Canada", b="canadian", c="canada", d="quebec", e="Quebec", f="quebecer")
    pairs = [(0.9, "b", "a"), (0.9, "b", "c"), (0.9, "d", "b"), (0.88, "f", "e"), (0.88, "f", "b"), (0.88, "f", "d")]
    wanted = members(groups(known, pairs))
    for order in permutations(pairs):
        assert members(groups(dict(reversed(known.items())), order)) == wanted


def test_the_representative_is_the_most_mentioned_then_the_shortest_then_the_first() -> None:
    known = elements(a="band", b="band", c="trio")
    (group,) = groups(known, [(0.91, "b", "c")])

    def target(**shown: tuple[str, int]) -> tuple[str, list[tuple[str, str]]]:
        forms = forms_of(group, known, {each: Shown(*value) for each, value in shown.items()})
        assert {form.target for form in forms} == {forms[0].target}
        assert forms[0].target not in {form.id for form in forms}
        return forms[0].target, [(form.id, form.by) for form in forms]

    assert target(a=("bands", 1), b=("band", 1), c=("trio", 2)) == ("c", [("a", "meaning"), ("b", "meaning")])
    assert target(a=("bands", 1), b=("band", 1), c=("trios", 1)) == ("b", [("a", "stem"), ("c", "meaning")])
    assert target(a=("band", 1), b=("band", 1), c=("trio", 1)) == ("a", [("b", "stem"), ("c", "meaning")])


def test_only_what_differs_is_written() -> None:
    stays, moves, new = Form("a", "r", "stem", 1.0), Form("b", "r", "stem", 1.0), Form("b", "s", "meaning", 0.9)
    assert changes([stays, moves], [stays, new]) == (["b"], [new])
    assert changes([stays], []) == (["a"], [])
    assert changes([stays], [stays]) == ([], [])


class MeaningEmbedder(HashEmbedder):
    """Hears the names of ``near`` as others, so that two names mean the same."""

    def __init__(self, near: Mapping[str, str]) -> None:
        super().__init__(64)
        self._near = near

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return super().embed([self._near.get(text.casefold(), text) for text in texts])


# Three short texts, worded for this test, that state what the paper's worked example does (appendix I).
ALBUM = {
    "album.txt": "Never Too Loud came out as the fourth studio album of Danko Jones, a Canadian hard rock band.",
    "band.txt": "Three Canadian musicians from Toronto are the hard rock trio Danko Jones.",
    "castle.txt": "On a hill of Toronto, Canada, stands Casa Loma, a castle-style mansion in Gothic Revival.",
}
NEAR = {"canadian": "canada", "hard rock trio": "hard rock band"}
_ELEMENTS = {
    "album.txt": ["Never Too Loud", "studio album", "Canadian", "hard rock band", "Danko Jones"],
    "band.txt": ["Danko Jones", "Canadian", "hard rock trio", "Toronto"],
    "castle.txt": ["Casa Loma", "Gothic Revival", "castle-style mansion", "Toronto", "Canada"],
}
_ENTITIES = {"Danko Jones": "Organization", "Toronto": "Place", "Canada": "Place", "Casa Loma": "Place"}


def recording(folder: Path, with_entities: bool) -> Path:
    lines: list[dict[str, Any]] = []
    for name, text in ALBUM.items():
        found = [{"name": each, "type": kind} for each, kind in _ENTITIES.items() if each in text and with_entities]
        lines.append({"document": name, "entities": found, "facts": [{"text": text, "key_elements": _ELEMENTS[name]}]})
    return put_jsonl(folder / "recording.jsonl", lines)


def neighbours(kg: KnowledgeGraph, name: str) -> set[str]:
    """As a reader sees them: under the representatives' names."""
    rows = kg.cypher(
        "MATCH (n:KeyElement) WHERE NOT (n)-[:FORM_OF]->() AND n.name = $name "
        "MATCH (n)<-[:FORM_OF*0..1]-(form)<-[:MENTIONS]-(f:Fact)-[:MENTIONS]->(k) "
        "WITH n, coalesce(COLLECT { MATCH (k)-[:FORM_OF]->(r) RETURN r }[0], k) AS o WHERE o <> n "
        "RETURN DISTINCT o.name",
        {"name": name},
    ).rows
    return {row[0] for row in rows}


@pytest.mark.parametrize("with_entities", [False, True])
def test_the_papers_worked_example_has_nine_nodes(
    store: Store, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_entities: bool
) -> None:
    kg = KnowledgeGraph(store, settings, embedder=MeaningEmbedder(NEAR))
    kg.ingest(put(tmp_path, ALBUM), recorded=recording(tmp_path, with_entities))
    # Two passages mention Canadian, one Canada: the paper shows the group as Canada, the rule as the commoner form.
    canada = "Canadian"
    nodes = kg.cypher("MATCH (n:KeyElement) WHERE NOT (n)-[:FORM_OF]->() RETURN n.name").rows
    assert {row[0] for row in nodes} == {
        *("Never Too Loud", "studio album", canada, "hard rock band", "Danko Jones"),
        *("Toronto", "Casa Loma", "Gothic Revival", "castle-style mansion"),
    }
    forms = kg.cypher("MATCH (k)-[f:FORM_OF]->(r) RETURN k.name, r.name, f.by ORDER BY k.name").rows
    assert forms == [["Canada", canada, "meaning"], ["hard rock trio", "hard rock band", "meaning"]]
    assert neighbours(kg, "Never Too Loud") == {"hard rock band", "Danko Jones", "studio album", canada}
    assert neighbours(kg, "Danko Jones") == {"hard rock band", "Never Too Loud", "studio album", canada, "Toronto"}
    assert neighbours(kg, "Toronto") == {
        *("Danko Jones", canada, "hard rock band", "Casa Loma", "Gothic Revival", "castle-style mansion")
    }
    figures = kg.stats().elements
    assert figures is not None
    assert (figures.nodes, figures.facts) == (9, 3)
    assert (figures.most_neighbours, figures.most_facts) == (8, 3)
    assert figures.mean_neighbours == pytest.approx(44 / 9)
    assert figures.mean_facts == pytest.approx(14 / 9)
    monkeypatch.setattr("kgplatform.explore.info.ELEMENTS_COUNTED", 8)
    assert kg.stats().elements is None, "those of very many elements are left out"


def test_embedding_again_joins_again(store: Store, settings: Settings, tmp_path: Path) -> None:
    files, told = put(tmp_path, ALBUM), recording(tmp_path, with_entities=True)
    KnowledgeGraph(store, settings, embedder=HashEmbedder(64)).ingest(files, recorded=told)
    apart = "MATCH (:KeyElement)-[f:FORM_OF {by: 'meaning'}]->() RETURN count(f)"
    kg = KnowledgeGraph(store, settings, embedder=MeaningEmbedder(NEAR))
    assert kg.cypher(apart).rows == [[0]]
    kg.reembed()
    assert kg.cypher(apart).rows == [[2]]
    assert kg.cypher("MATCH (k:KeyElement) WHERE k.elementEmbedding IS NULL AND NOT k:Entity RETURN k").rows == []


def test_an_older_graph_gets_its_stems_with_the_next_change(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files, told = put(tmp_path, ALBUM), recording(tmp_path, with_entities=True)
    kg.ingest(files, recorded=told)
    wanted = snapshot(kg.store)
    wipe(kg.store)
    kg.ingest(files[:2], recorded=told)
    kg.cypher("MATCH (k:KeyElement) REMOVE k.stem, k.nameWords, k.consonants", write=True)
    kg.cypher("MATCH (g:Graph) SET g.format = 1", write=True)
    kg.ingest(files, recorded=told)
    assert difference(snapshot(kg.store), wanted) == []


ALIKE = [
    *(("Barack Obama", "Obama, Barack"), ("Lord William Kelvin", "William Kelvin")),
    *(
        ("University of Oxford", "Oxford University"),
        ("Mendeleev", "Mendeleyev"),
        ("Joaquin Murrieta", "Joaquin Murrietta"),
    ),
    *(
        ("Émile Zola", "Emile Zola"),
        ("Cyrus W. Field", "Cyrus Field"),
        ("Goodall Jané", "Jane Goodall"),
        ("IndyCar", "Indy Car"),
    ),
]
UNLIKE = [
    *(("1866 cable", "cable"), ("Apollo 11", "Apollo 12"), ("Apollo 11 mission", "Apollo 11"), ("Ida", "Ada")),
    *(("Paris", "Pairs of shoes"), ("鲁迅", "鲁肃"), ("", "Ada"), ("William Blake", "Williams Blake")),
    *(("Henry II of England", "Henry III of England"), ("King Charles", "Charles King"), ("Jose", "José")),
    *(
        ("Duke of Savoy", "Savoy"),
        ("Antonio Martinez", "Antonia Martinez"),
        ("The Department of Labor", "Labour Department"),
    ),
    *(
        ("Prince Michael of Kent", "Princess Michael of Kent"),
        ("Lord Kelvin", "Kelvin"),
        ("Cyrus Field Jr.", "Cyrus West Field"),
    ),
]


def alike(one: str, other: str) -> bool:
    names = [(normalise_name(name), kind) for name, kind in ((one, "Person"), (other, None))]
    assert are_alike(*names) == are_alike(*reversed(names))
    return are_alike(*names)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_are_alike(one: str, other: str) -> None:
    assert alike(one, other)
    key = normalise_name(one)
    assert not are_alike((key, "Person"), (normalise_name(other), "Place")), "types tell them apart"


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_names_that_are_not(one: str, other: str) -> None:
    assert not alike(one, other)


@given(st.lists(st.text(alphabet="abcdlmné é1北ب ,.-", max_size=16), max_size=8))
def test_like_names_share_a_property_that_they_are_found_by(names: list[str]) -> None:
    """As ``settle.py`` looks them up: the same words, or the same consonants."""
    for one, other in product(map(normalise_name, names), repeat=2):
        if are_alike((one, None), (other, None)):
            mine, theirs = found_by(one), found_by(other)
            assert any(mine[name] == theirs[name] is not None for name in ("nameWords", "consonants"))


@pytest.mark.parametrize(
    ("forms", "name", "aliases"),
    [
        *((["Ada"], "Ada", []), (["Ada", "ADA", "ADA"], "ADA", ["Ada"]), (["b", "a"], "a", ["b"])),
        *((["c", "b", "b", "a", "a"], "a", ["b", "c"]), (["ÉMILE", "Émile", "Émile"], "Émile", ["ÉMILE"])),
    ],
)
def test_the_form_that_most_passages_use(forms: list[str], name: str, aliases: list[str]) -> None:
    assert best_name(forms) == best_name(forms[::-1]) == (name, aliases)
