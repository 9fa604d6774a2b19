"""Gist memory in the graph: which pages a document is remembered by, which are near, and the text behind them."""

from collections.abc import Iterator

import pytest
from conftest import wipe
from corpora import put
from written_pages import define_pages, run, write_pages

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.search.evidence import Evidence
from kgplatform.search.pages import okapi
from kgplatform.settings import load_settings

QUESTION = "Who fired the bricks?"
KILN = [
    ("The kiln at Marsh End fired bricks. It was hot.\n\nIt was built in 1790.", "A kiln for bricks, built in 1790."),
    ("Later it stood still, and  swallows\tlived in it.", "The kiln stood still."),
    ("Nobody remembers who fired it last.", "Nobody remembers the last one."),
]
WHARF = [
    ("Bricks left the wharf by barge.", "Bricks were sent off."),
    ("Grüße aus dem Hafen. 煉瓦は赤い。", "Greetings."),
]
DECOY = [("Who fired the bricks? Ada Stone fired the bricks, all bricks.", "Who fired the bricks: Ada Stone.")]


@pytest.fixture(scope="module")
def evidence(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """Four documents, one of them without pages. ``wharf`` also has pages for other questions."""
    folder = tmp_path_factory.mktemp("pages")
    texts = {"kiln.txt": KILN, "wharf.txt": WHARF, "decoy.txt": DECOY}
    with Store(neo4j_server) as store:
        wipe(store)
        kg = KnowledgeGraph(
            store, load_settings(home=folder, embedder="hash:64", passage_tokens=20), embedder=HashEmbedder(64)
        )
        files = {name: "\n\n".join(text for text, _ in pages) for name, pages in texts.items()}
        kg.ingest(put(folder / "texts", {**files, "mute.txt": "It has no gists."}), extractor="local")
        define_pages(store)
        for name, pages in texts.items():
            write_pages(store, name.removesuffix(".txt"), pages)
        for number in range(60):
            write_pages(store, "wharf", [(files["wharf.txt"], QUESTION)], f"Question {number}?")
        yield Evidence(store, kg.embedder)


def ids(evidence: Evidence, *names: str) -> tuple[str, ...]:
    rows = run(evidence._store, "UNWIND $names AS name MATCH (d:Document {name: name}) RETURN d.id", names=list(names))
    return tuple(row[0] for row in rows)


def told(evidence: Evidence, pages: tuple[str, ...]) -> list[str]:
    """Title and index of pages, in the given order."""
    named = {each.id: f"{each.title} {each.index}" for each in evidence.pages(QUESTION).named(pages).pages}
    return [named[each] for each in pages]


def test_the_size_counts_the_memory_of_this_question(evidence: Evidence) -> None:
    size = evidence.pages(QUESTION).size()
    assert (size.documents, size.without, size.for_question, size.pages) == (3, 1, 0, 6)
    assert (size.ungisted, size.unembedded) == (0, 0)
    assert size.words == sum(len(text.split()) for text, _ in (*KILN, *WHARF, *DECOY))
    assert 0 < size.tokens < 60
    conditional = evidence.pages("Question 7?").size()
    assert (conditional.documents, conditional.for_question, conditional.pages) == (3, 1, 5)
    chosen = evidence.pages(QUESTION, ids(evidence, "kiln", "mute")).size()
    assert (chosen.documents, chosen.without, chosen.pages) == (1, 1, 3)
    none = evidence.pages(QUESTION, ids(evidence, "mute")).size()
    assert (none.documents, none.without, none.pages, none.words, none.longest) == (0, 1, 0, 0, 0)


def test_the_nearest_gists_are_those_of_this_memory_however_many_others_the_index_holds(evidence: Evidence) -> None:
    """Sixty pages of other questions are nearer, so that ours are compared one by one."""
    found = evidence.pages(QUESTION).near(6)
    assert sorted(told(evidence, found.ids)) == ["decoy 0", "kiln 0", "kiln 1", "kiln 2", "wharf 0", "wharf 1"]
    assert told(evidence, found.ids)[0] == "decoy 0"
    assert [each.name for each in found.queries] == ["search/gists_near", "search/gists_compared"]
    within = evidence.pages(QUESTION, ids(evidence, "kiln")).near(2)
    assert len(within.ids) == 2
    assert all(each.startswith("kiln") for each in told(evidence, within.ids))


def test_the_text_of_a_page_is_put_together_from_its_passages(evidence: Evidence) -> None:
    found = evidence.pages(QUESTION).all().pages
    texts = evidence.pages(QUESTION).texts([each.id for each in found]).texts
    for page, (text, _) in zip(found, (*DECOY, *KILN, *WHARF), strict=True):
        read = texts[page.id]
        assert read.text.split() == text.split()
        assert read.passages[0].start == page.start
        for each in read.passages:
            offset = each.start - page.start
            assert read.text[offset : offset + len(each.text)] == each.text
            assert each.end == each.start + len(each.text) <= page.end
    assert evidence.pages(QUESTION).texts(["gone"]).texts == {}


def test_okapi_by_hand() -> None:
    """ "kiln" is in two of three texts, "bricks" in one; of two that have a word as often the shorter one is better."""
    texts = [("b", "Kiln cold"), ("a", "kiln fired bricks. KILN"), ("c", "it was raining")]
    assert okapi("Kiln bricks?", texts) == ["a", "b"]
    assert okapi("Kiln?", [("long", "the kiln of the place was cold"), ("short", "a kiln"), *texts[2:]]) == [
        "short",
        "long",
    ]
    assert okapi("Kiln?", []) == []
