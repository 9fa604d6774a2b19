"""ReadAgent's two ways to look pages up (section 3.2): what is asked, what is taken, and what ends them."""

import pytest
from readagent_runs import Rereader, ask, chosen, cites, details, fill, page, pages, said

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import BudgetError, ModelError
from kgplatform.readers.answer import NOT_CITED
from kgplatform.readers.window import tokens
from kgplatform.search.evidence import Evidence

QUESTION = "Who kept the lamp?"
PLACES = ("tower", "pier", "mill", "chapel", "quarry", "market", "bridge", "orchard", "forge")
NINE = [(f"The {place} was kept by Mara {place.title()}.", f"About the {place}.") for place in PLACES]
WINDOW = 2000


@pytest.fixture(scope="module")
def nine(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Nine short pages."""
    return fill(shared_kg.store, tmp_path_factory.mktemp("nine"), {"Keepers.txt": NINE})


def test_a_parallel_look_up_takes_what_is_there_once_and_no_more_than_it_may(nine: Evidence) -> None:
    model = Rereader(lookup=[pages(8, 3, 3, 99, -1, 5, 2, 1, 0)], answer=[cites("Mara Forge")])
    done = ask(nine, model, QUESTION, pages=5)
    assert model.kinds == ["lookup", "answer"]
    expanded = model.asked[1].full
    assert expanded == [1, 2, 3, 5, 8]
    assert all(model.asked[1].plain(n) == NINE[n][0 if n in expanded else 1] for n in range(9))
    assert details(done, "look up") == [
        "pages 8, 3, 5, 2, 1; refused: 3 (named twice), 99 (no such page), -1 (no such page), 0 (too many pages)"
    ]
    assert details(done, "read pages") == ["pages 8, 3, 5, 2, 1"]
    names = [page.index for page in nine.pages(QUESTION).named(done.trace[2].pages).pages]
    assert (len(done.trace[2].pages), sorted(names)) == (5, [1, 2, 3, 5, 8])
    assert {name: n for name, n in done.counts.items() if "." in name and not name.startswith("words")} == {
        "malformed.named twice": 1,
        "malformed.no such page": 2,
        "malformed.too many pages": 1,
        "pages.looked_up": 5,
    }


def test_a_sequential_look_up_sees_each_page_before_it_names_the_next(nine: Evidence) -> None:
    model = Rereader(next=[page(2), page(2), page("STOP")], answer=[cites("Mara Mill")])
    done = ask(nine, model, QUESTION, lookup="sequential")
    assert model.kinds == ["next", "next", "next", "answer"]
    first, second, again, answered = model.asked
    assert (first.read, second.read) == ("(none)", "Page 2")
    assert first.memory == {n: gist for n, (_, gist) in enumerate(NINE)}
    assert [second.plain(n) for n in range(9)] == [text if n == 2 else gist for n, (text, gist) in enumerate(NINE)]
    assert again.user.startswith(second.user)
    assert "that page was read again already" in again.user.removeprefix(second.user)
    assert answered.memory == second.memory
    assert details(done, "look up") == ["page 2", "2 (read again already); stop"]
    assert (done.counts["malformed.read again already"], done.counts["pages.looked_up"]) == (1, 1)
    assert done.text == "Mara Mill [1]"


@pytest.mark.parametrize(
    ("replies", "told", "looked_up"),
    [
        ([page(77), page(3), page("STOP")], "77 (no such page); page 3", 1),
        (["", ""], "no page and no STOP; stop", 0),
        ([page(3), page(3), page(3)], "3 (read again already); 3 (read again already); stop", 1),
    ],
)
def test_a_useless_request_is_asked_for_once_more_and_then_the_look_up_stops(
    nine: Evidence, replies: list[str], told: str, looked_up: int
) -> None:
    model = Rereader(next=replies, answer=[cites("Mara Chapel")])
    done = ask(nine, model, QUESTION, lookup="sequential")
    assert model.kinds == ["next"] * len(replies) + ["answer"]
    useless = len(replies) - looked_up - replies.count(page("STOP"))
    named = [name for name in ("no such page", "read again already") if name in told]
    fault = named[0] if named else "no page and no STOP"
    assert (done.counts[f"malformed.{fault}"], done.counts["pages.looked_up"]) == (useless, looked_up)
    assert told in details(done, "look up")


def test_a_reply_of_no_use_is_asked_for_again_and_then_nothing_is_looked_up(nine: Evidence) -> None:
    replies = ["<think>Page [3]?</think> ", '{"reasoning": "It is in P3."}']
    done = ask(nine, Rereader(lookup=replies, answer=[cites("Mara Mill")]), QUESTION)
    assert (done.counts["malformed.no list of pages"], done.counts["pages.looked_up"]) == (2, 0)
    assert details(done, "look up") == ["no page; no list of pages"]
    done = ask(nine, Rereader(lookup=["", '{"pages": ["3"]}'], answer=[cites("Mara Mill")]), QUESTION)
    assert (done.counts["malformed.no list of pages"], details(done, "look up")) == (1, ["page 3"])


def test_the_limit_counts_pages_that_were_read(nine: Evidence) -> None:
    """ReadAgent-S makes at most one call more than look-ups, here none: at the limit nothing is asked."""
    model = Rereader(next=[page(1), page(99), page(4), page(7)], answer=[cites("Mara Forge")])
    done = ask(nine, model, QUESTION, lookup="sequential", pages=3)
    assert model.kinds == ["next"] * 4 + ["answer"]
    assert done.counts["pages.looked_up"] == 3
    assert details(done, "look up")[-1] == "ended: the limit of 3 pages"
    every = Rereader(next=[page(n) for n in range(9)], answer=[cites("Mara Forge")])
    done = ask(nine, every, QUESTION, lookup="sequential", pages=20)
    assert (every.kinds.count("next"), details(done, "look up")[-1]) == (9, "ended: no page is left")


def test_an_interim_answer_is_shown_at_the_next_look_up_and_the_last_one_is_the_answer(nine: Evidence) -> None:
    model = Rereader(next=[page(0), page(4), page("STOP")], answer=[cites("Mara Tower"), cites("Mara Quarry")])
    done = ask(nine, model, QUESTION, lookup="sequential", interim=True)
    assert model.kinds == ["next", "answer", "next", "answer", "next"]
    first, _, second, _, third = model.asked
    assert "My answer so far" not in first.user
    assert second.data.endswith("My answer so far, from this alone: Mara Tower")
    assert third.data.endswith("My answer so far, from this alone: Mara Quarry")
    assert [each.name for each in done.trace] == [
        *("remember", "look up", "read pages", "interim answer", "look up", "read pages", "interim answer", "look up"),
        "answer",
    ]
    assert done.text == "Mara Quarry [1]"
    assert "compression rate" in details(done, "answer")[0]


def test_an_interim_answer_that_is_long_is_cut_and_one_of_a_choice_has_its_letter(nine: Evidence) -> None:
    rambling = " ".join(f"Perhaps it was keeper number {n}." for n in range(400))
    model = Rereader(next=[page(0), page("STOP")], answer=[said(rambling)])
    ask(nine, model, QUESTION, lookup="sequential", interim=True, window_tokens=WINDOW)
    shown = model.asked[2].data.partition("from this alone: ")[2]
    assert rambling.startswith(shown)
    assert 0 < tokens(shown) <= WINDOW // 16
    choosing = Rereader(next=[page(0), page("STOP")], choose=[chosen("B")])
    done = ask(nine, choosing, QUESTION, lookup="sequential", interim=True, choices=("Jon", "Mara Tower"))
    assert choosing.asked[2].data.endswith("alone: (B) Mara Tower")
    assert (done.text, done.note) == ("(B) Mara Tower", NOT_CITED)


@pytest.mark.parametrize("error", [BudgetError("The budget is used up."), ModelError("It timed out.")])
def test_an_error_after_an_interim_answer_keeps_that_answer(nine: Evidence, error: Exception) -> None:
    model = Rereader(next=[page(0), error], answer=[cites("Mara Tower")])
    done = ask(nine, model, QUESTION, lookup="sequential", interim=True)
    assert (done.text, done.note) == ("Mara Tower [1]", f"The look-up ended early: {error}")
    late = Rereader(next=[page(0), page(1)], answer=[cites("Mara Tower"), error])
    done = ask(nine, late, QUESTION, lookup="sequential", interim=True)
    assert (done.text, done.counts["pages.looked_up"]) == ("Mara Tower [1]", 2)
    (prompt,) = late.of("answer")[:1]
    shown = sum(len(prompt.plain(n).split()) for n in prompt.memory)
    assert done.counts["words.in_context"] == shown, "the prompt of that answer did not have the second page yet"
    assert details(done, "answer")[0].startswith(f"the last interim answer; {shown} of ")
    with pytest.raises(type(error), match=str(error)):
        ask(nine, Rereader(next=[page(0), error]), QUESTION, lookup="sequential")
