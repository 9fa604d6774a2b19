"""What ReadAgent remembers of more gists than the window holds, and of chosen documents."""

import pytest
from readagent_runs import Asked, Rereader, ask, cites, details, document_ids, fill, in_lines, pages
from texts import lines
from written_pages import Written

from kgplatform.client import KnowledgeGraph
from kgplatform.readers.window import cost, tokens
from kgplatform.search.evidence import Evidence

QUESTION = "Who kept the lamp of Skerry?"
LAMP = f"The lamp of Skerry was kept by Mara Voss.\n\n{lines(10, 'lamp')}"
TOWNS = ("Arden", "Brill", "Corve", "Dunmore", "Elmet", "Foss", "Garth", "Holt", "Iver", "Jarrow")


def gist(place: str, n: int) -> str:
    said = f"In {place}, in year {n}, the council measured the harbour wall and wrote the figures down once more."
    return " ".join([said] * 6)


def town(place: str) -> list[Written]:
    """Six pages on a town; the fourth of Foss has the lamp."""
    pages: list[Written] = [
        (f"Year {n} in {place}. The wall was {n} feet long, and nobody minded.", gist(place, n)) for n in range(6)
    ]
    if place == "Foss":
        pages[3] = (LAMP, "Who kept the lamp of Skerry, and for how long.")
    return pages


@pytest.fixture(scope="module")
def towns(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Ten documents of six pages, far more gists than a small window holds."""
    return fill(shared_kg.store, tmp_path_factory.mktemp("towns"), {f"{place}.txt": town(place) for place in TOWNS})


def lamps(asked: Asked) -> list[int]:
    """The pages whose gists tell of a lamp."""
    return [n for n, text in asked.memory.items() if "lamp" in text]


def test_gists_beyond_the_window_are_chosen_by_retrieval_and_shown_in_reading_order(towns: Evidence) -> None:
    model = Rereader(lookup=lambda asked: pages(*lamps(asked)), answer=[cites("Mara Voss")])
    done = ask(towns, model, QUESTION, window_tokens=2600)
    shown = model.asked[0]
    assert list(shown.memory) == list(range(len(shown.memory))), "counted through"
    assert 5 < len(shown.memory) < 30
    titles = [line[2:] for line in shown.data.splitlines() if line.startswith("# ")]
    assert titles == sorted(set(titles))
    years = [text.partition("year ")[2][:1] for text in shown.memory.values() if "Holt" in text]
    assert years == sorted(years)
    assert max(cost(each.messages) for each in model.asked) <= 0.9 * 2600
    assert (done.text, details(done, "look up")) == ("Mara Voss [1]", [f"page {lamps(shown)[0]}"])
    remember = done.trace[0]
    assert remember.detail.startswith(f"{len(shown.memory)} of 60 gists, chosen by retrieval, ")
    names = [each.name for each in remember.queries]
    assert names[:2] == ["search/gist_memory_size", "search/gists_near"]
    assert names[-2:] == ["search/pages_of_passages", "search/gists_by_page"]
    assert "search/gists" not in names, "all gists are not loaded"


def test_room_for_a_page_is_kept_beside_the_gists(towns: Evidence) -> None:
    """With a look-up the memory is smaller by the longest page, which then fits; without one it fills the window."""
    with_page = Rereader(lookup=lambda asked: pages(*lamps(asked)), answer=[cites("No.")])
    without = Rereader(answer=[cites("No.")])
    done = ask(towns, with_page, QUESTION, window_tokens=2000)
    ask(towns, without, QUESTION, window_tokens=2000, lookup="none")
    assert done.counts["pages.looked_up"] == 1
    assert not {"cut.page", "refused.no room"} & done.counts.keys()
    assert [with_page.asked[1].plain(n) for n in with_page.asked[1].full] == [in_lines(LAMP)]
    assert len(without.asked[0].memory) > len(with_page.asked[0].memory)


def test_chosen_documents_alone_are_remembered(towns: Evidence) -> None:
    ids = document_ids(towns)
    model = Rereader(answer=[cites("No.")])
    done = ask(towns, model, QUESTION, lookup="none", documents=(ids["Holt"], ids["Brill"]), preset="paper")
    assert [line for line in model.asked[0].data.splitlines() if line.startswith("# ")] == ["# Brill", "# Holt"]
    assert list(model.asked[0].memory) == list(range(12))
    assert done.trace[0].detail.startswith("12 of 12 gists, ")
    cramped = Rereader(answer=[cites("No.")])
    chosen = tuple(ids[place] for place in TOWNS if place != "Foss")
    done = ask(towns, cramped, QUESTION, lookup="none", documents=chosen, window_tokens=2000)
    assert "chosen by retrieval" in done.trace[0].detail
    assert "lamp" not in cramped.asked[0].data
    assert "search/gists_compared" in [each.name for each in done.trace[0].queries]


def test_of_several_documents_few_gists_are_remembered_but_with_the_papers_preset(towns: Evidence) -> None:
    model = Rereader(answer=[cites("No.")])
    done = ask(towns, model, QUESTION, lookup="none")
    assert "of 60 gists, chosen by retrieval" in done.trace[0].detail
    assert lamps(model.asked[0])
    assert tokens(model.asked[0].data) <= 800


def test_one_document_beyond_the_window_keeps_the_numbers_of_its_pages(towns: Evidence) -> None:
    model = Rereader(lookup=[pages(3)], answer=[cites("Mara Voss")])
    ask(towns, model, QUESTION, documents=(document_ids(towns)["Foss"],), window_tokens=1500)
    assert 1 < len(model.asked[0].memory) < 6
    assert model.asked[1].plain(3) == in_lines(LAMP)


def test_the_nearest_page_takes_the_place_of_its_gist(towns: Evidence) -> None:
    model = Rereader(answer=[cites("Mara Voss")])
    done = ask(towns, model, QUESTION, lookup="nearest", pages=1, window_tokens=16_000, preset="paper")
    assert done.trace[0].detail.startswith("60 of 60 gists, ")
    assert model.kinds == ["answer"]
    assert list(model.asked[0].memory) == list(range(30, 36)), "the gists of the document that has the page"
    assert model.asked[0].plain(33) == in_lines(LAMP)
    assert details(done, "look up") == ["nearest by meaning: page 33"]
    assert done.text == "Mara Voss [1]"
