"""Pages that follow each other: what the model says of them, and which are merged (appendix I)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_by_prompt import Prompt

from kgplatform.gist.memory import Memory, Page
from kgplatform.gist.options import GistOptions
from kgplatform.gist.shorten import (
    NO,
    NOT_SURE,
    UNUSABLE,
    YES,
    ask_verdict,
    candidates,
    joined,
    joints,
    shortest_pair,
)
from kgplatform.testing import ScriptedChat


def of_words(*words: int) -> list[Page]:
    """Pages of so many words, each of which is a character here."""
    starts = [sum(words[:index]) for index in range(len(words))]
    return [Page(str(index), index, start, start + words[index], words[index], words[index], "It is so.")
            for index, start in enumerate(starts)]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('{"reasoning": "It goes on.", "new_part": "no"}', NO),
        ('{"new_part": "yes"}', YES),
        ('{"new_part": "not sure"}', NOT_SURE),
        ('{"new_part": "perhaps"}', UNUSABLE),
        ("no", UNUSABLE),
    ],
)
def test_what_a_reply_says(reply: str, verdict: str) -> None:
    assert ask_verdict(ScriptedChat([reply] * 2), "One.", "Two.", GistOptions.of("book")) == verdict


def test_the_prompt_shows_both_pages() -> None:
    chat = ScriptedChat(['{"new_part": "not sure"}'])
    assert ask_verdict(chat, " One. \n", "Two.", GistOptions.of("book")) == NOT_SURE
    (call,) = chat.calls
    assert "two pages of a book" in call.messages[0]["content"]
    assert (Prompt(call.messages).data, call.stage) == ("Page 1:\nOne.\n\nPage 2:\nTwo.", "merge")


def test_only_no_merges_and_within_the_bound() -> None:
    pages = of_words(100, 100, 100, 100, 100)
    assert joints(pages, {0: NO, 1: YES, 2: NO, 3: NO}, 1000) == [0, 2, 3]
    assert joints(pages, {0: NO, 1: NO, 2: NO, 3: NO}, 250) == [0, 2]
    assert joints(pages, {0: NOT_SURE, 1: UNUSABLE, 3: YES}, 1000) == []
    assert candidates(of_words(100, 200, 50), 250) == [1]
    assert shortest_pair(of_words(100, 50, 60, 50), [0, 1, 2]) == 1, "of equals the first"


def test_merged_pages_take_their_text_together() -> None:
    memory = Memory("d", "story", "", "", "", "x" * 500, (0,), 0, of_words(100, 100, 100, 100, 100))
    pages = joined(memory, [0, 2, 3])
    assert [(page.index, page.start, page.end, page.gist) for page in pages] == [(0, 0, 200, None), (1, 200, 500, None)]
    pages = joined(memory, [1])
    assert [page.gist for page in pages] == ["It is so.", None, "It is so.", "It is so."]
    assert [page.index for page in pages] == [0, 1, 2, 3]


@given(st.lists(st.integers(1, 90), min_size=2, max_size=12), st.lists(st.sampled_from([NO, YES]), min_size=11))
def test_no_merged_page_is_longer_than_the_bound(words: Sequence[int], said: Sequence[str]) -> None:
    pages = of_words(*words)
    at = joints(pages, dict(enumerate(said)), 100)
    memory = Memory("d", "story", "", "", "", "x " * sum(words), (0,), 0, pages)
    merged = joined(memory, at)
    assert len(merged) == len(pages) - len(at)
    assert [page.start for page in merged] == [0, *(page.end for page in merged)][:-1]
    assert merged[-1].end == sum(words)
    for page in merged:
        parts = [each.words for each in pages if page.start <= each.start < page.end]
        assert sum(parts) <= 100
