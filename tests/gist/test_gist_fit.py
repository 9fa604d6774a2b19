"""Memories that are too long are made to fit: pages merged (appendix I), or older gists shortened again (F.3)."""

import json
from collections import Counter
from pathlib import Path

import pytest
from corpora import difference
from gists import assert_memory, by_rules, ingested, opened, pages_of, shortened, story, tasks
from graph_state import snapshot
from model_by_prompt import Prompt, budgeted

from kgplatform.errors import ModelError
from kgplatform.gist.gist_documents import NO, NOT_SURE, UNUSABLE, YES, candidates, joints, shortest_pair
from kgplatform.gist.memory import Page
from kgplatform.gist.options import GistOptions
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.text import count_words

TWENTY = story([100] * 20)
"""Seven pages by the rules: six of 300 words, one of 200."""


def in_short(messages: Messages) -> str:
    """Ten words of a page, however long it is; half of a gist; no new part begins."""
    if Prompt(messages).kind == "merge":
        return '{"new_part": "no"}'
    if "Shorten it again" in messages[0]["content"]:
        words = Prompt(messages).data.split()
        return shortened(" ".join(words[: max(1, len(words) // 2)]))
    if Prompt(messages).kind == "gist":
        return shortened(json.loads(by_rules(messages))["gist"].split("\n")[0])
    return by_rules(messages)


def test_pages_are_merged_where_no_new_part_begins(store: Store, tmp_path: Path) -> None:
    said = {"Pdqa": "no", "Pgqa": "yes", "Pjqa": "not sure", "Pbcqa": "no", "Pbfqa": "it depends", "Pbiqa": "no"}

    def by_part(messages: Messages) -> str:
        if Prompt(messages).kind == "merge":
            second = Prompt(messages).data.partition("Page 2:\n")[2].split()[0]
            return json.dumps({"new_part": said[second]})
        return in_short(messages)

    kg = opened(store, tmp_path / "home", by_part)
    ingested(kg, tmp_path, {"story.txt": TWENTY})
    kg.gist()
    before = assert_memory(kg, "story")
    assert [page["words"] for page in before] == [300] * 6 + [200]
    per_gist = before[0]["gistTokens"]
    calls = len(tasks(kg))
    report = kg.gist(fit=5 * per_gist)
    pages = assert_memory(kg, "story")
    assert report.complete
    assert report.merged["said no"] >= 2
    assert report.merged["said yes"] == report.merged["said not sure"] == report.merged["said unusable"] == 1
    assert report.malformed == {"reply about two pages without yes or no": 1}
    ends = {page["end"]: page["start"] for page in before}
    merged = [page for page in pages if ends[page["end"]] != page["start"]]
    assert Counter(tasks(kg)[calls:]) == {"merge": 7, "gist": len(merged)}, "one is asked again"
    assert sum(page["gistTokens"] for page in pages) <= 5 * per_gist
    assert {page["made"] for page in pages} == {GistOptions.of(fit=5 * per_gist).made_to_fit}
    calls = len(tasks(kg))
    assert kg.gist(fit=5 * per_gist).notes == ["All pages of these documents already have gists; no model was called."]
    assert len(tasks(kg)) == calls
    assert kg.gist().replaced == 1, "without a bound the memory is what it was"
    assert assert_memory(kg, "story") == before


def test_where_every_page_begins_a_part_the_shortest_pair_is_merged(store: Store, tmp_path: Path) -> None:
    def always_yes(messages: Messages) -> str:
        return '{"new_part": "yes"}' if Prompt(messages).kind == "merge" else in_short(messages)

    kg = opened(store, tmp_path / "home", always_yes)
    ingested(kg, tmp_path, {"story.txt": TWENTY})
    report = kg.gist(fit=40)
    pages = assert_memory(kg, "story")
    assert report.complete
    assert sum(page["gistTokens"] for page in pages) <= 40
    assert report.merged["merged, as the shortest pair"] == 7 - len(pages) > 0
    assert max(page["words"] for page in pages) <= GistOptions.of().longest_merged
    asked = [str(call.messages) for call in kg.language_model.calls if call.stage == "merge"]  # type: ignore[union-attr]
    assert len(asked) == len(set(asked)), "nothing is asked twice, however often all pairs are looked at"


@pytest.mark.parametrize("shrink", ["merge", "older"])
def test_what_cannot_fit_ends_and_is_reported(store: Store, tmp_path: Path, shrink: str) -> None:
    kg = opened(store, tmp_path / "home", in_short)
    ingested(kg, tmp_path, {"story.txt": TWENTY})
    report = kg.gist(fit=1, shrink=shrink)
    assert [each.document for each in report.too_long] == ["story"]
    assert report.too_long[0].gist_tokens == report.gist_tokens > 1
    assert (report.complete, report.complete_documents, report.failed) == (False, 1, [])
    pages, calls = assert_memory(kg, "story"), len(tasks(kg))
    again = kg.gist(fit=1, shrink=shrink)
    assert (again.complete, len(tasks(kg))) == (False, calls), "and is not tried again in vain"
    assert assert_memory(kg, "story") == pages


def test_older_gists_are_shortened_first(store: Store, tmp_path: Path) -> None:
    kg = opened(store, tmp_path / "home", in_short)
    ingested(kg, tmp_path, {"story.txt": TWENTY})
    kg.gist()
    before = [page["gistTokens"] for page in pages_of(kg, "story")]
    report = kg.gist(fit=sum(before) - before[0] // 2 - 2, shrink="older")
    assert (report.shortened, report.complete, report.pages_new) == (2, True, 0)
    pages = assert_memory(kg, "story")
    assert [page["gistWords"] for page in pages] == [5, 5, 10, 10, 10, 10, 10]
    assert [page.get("again") for page in pages] == [1, 1, None, None, None, None, None]
    report = kg.gist(fit=sum(before) - before[0] // 2 - 2, shrink="older")
    assert report.shortened == 0
    assert set(tasks(kg)) == {"paginate", "gist", "shorten"}


def test_gists_that_do_not_become_shorter_are_left_alone(store: Store, tmp_path: Path) -> None:
    def stubborn(messages: Messages) -> str:
        if "Shorten it again" in messages[0]["content"] and "Paqa" in Prompt(messages).data:
            return json.dumps({"gist": Prompt(messages).data})
        return in_short(messages)

    kg = opened(store, tmp_path / "home", stubborn)
    ingested(kg, tmp_path, {"story.txt": TWENTY})
    report = kg.gist(fit=45, shrink="older")
    assert report.complete
    first, *others = assert_memory(kg, "story")
    assert (first["gistWords"], first["final"]) == (10, True)
    assert all(count_words(page["gist"]) <= 5 for page in others)
    assert tasks(kg).count("shorten") == report.shortened + 1


@pytest.mark.parametrize("shrink", ["merge", "older"])
def test_a_run_that_is_stopped_while_it_shrinks_goes_on(store: Store, tmp_path: Path, shrink: str) -> None:
    kg = opened(store, tmp_path / "home", in_short)
    ingested(kg, tmp_path, {"story.txt": TWENTY})
    kg.gist(fit=60, shrink=shrink)
    wanted, wanted_calls = snapshot(store), Counter(tasks(kg))
    kg.cypher("MATCH (p:Page) DETACH DELETE p", write=True)
    left = [15]
    kg = opened(store, tmp_path / "home", budgeted(in_short, left), concurrency=1)
    report = kg.gist(fit=60, shrink=shrink)
    assert (report.stopped, report.complete) == ("The budget is used up.", False)
    left[0] = 1000
    assert kg.gist(fit=60, shrink=shrink).complete
    assert difference(snapshot(store), wanted) == []
    calls = Counter(tasks(kg))
    assert calls["paginate"] == wanted_calls["paginate"]
    assert calls["gist"] + calls["shorten"] <= wanted_calls["gist"] + wanted_calls["shorten"] + 1, "the one refused"


def test_a_verdict_that_fails_leaves_the_memory_as_it_was(store: Store, tmp_path: Path) -> None:
    def moody(messages: Messages) -> str:
        if Prompt(messages).kind == "merge" and "Page 2:\nPgqa" in Prompt(messages).data:
            raise ModelError("The server is tired.")
        return in_short(messages)

    kg = opened(store, tmp_path / "home", moody)
    ingested(kg, tmp_path, {"story.txt": TWENTY})
    report = kg.gist(fit=60)
    assert [(each.document, each.page, each.reason) for each in report.failed] == [("story", 1, "The server is tired.")]
    assert not report.complete
    assert [page["words"] for page in assert_memory(kg, "story")] == [300] * 6 + [200]
    assert opened(store, tmp_path / "home", in_short).gist(fit=60).complete


# ----------------------------------------------------------------------------------------------- which pages are merged


def of_words(*words: int) -> list[Page]:
    """Pages of so many words, each of which is a character here."""
    starts = [sum(words[:index]) for index in range(len(words))]
    return [Page(str(index), index, start, start + words[index], words[index], words[index], "It is so.")
            for index, start in enumerate(starts)]  # fmt: skip


def test_only_no_merges_and_within_the_bound() -> None:
    pages = of_words(100, 100, 100, 100, 100)
    assert joints(pages, {0: NO, 1: YES, 2: NO, 3: NO}, 1000) == [0, 2, 3]
    assert joints(pages, {0: NO, 1: NO, 2: NO, 3: NO}, 250) == [0, 2]
    assert joints(pages, {0: NOT_SURE, 1: UNUSABLE, 3: YES}, 1000) == []
    assert candidates(of_words(100, 200, 50), 250) == [1]
    assert shortest_pair(of_words(100, 50, 60, 50), [0, 1, 2]) == 1, "of equals the first"
