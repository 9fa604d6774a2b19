"""Episode pagination: presets and sizes, what is offered, what a reply chooses, and what is true of all pages."""

import json
import random
import re
from collections.abc import Sequence
from typing import Any

import pytest
from gists import labels, paused, story
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st
from model_by_prompt import Prompt

from kgplatform.errors import InputError
from kgplatform.gist.options import PRESETS, GistOptions
from kgplatform.gist.pagination import (
    NO_PAUSE,
    NOT_OFFERED,
    Offer,
    Paragraph,
    ask_pause,
    next_offer,
    paragraphs,
    pause_messages,
    uniform_ends,
)
from kgplatform.testing import ScriptedChat

TEN = story([100] * 10)
ARTICLE = GistOptions.of()


def of_lengths(lengths: Sequence[int]) -> list[Paragraph]:
    """Paragraphs of so many words; where they stand does not matter here."""
    return [Paragraph(number, number + 1, words) for number, words in enumerate(lengths)]


def ends_of(text: str, chat: ScriptedChat, options: GistOptions) -> tuple[list[int], list[str]]:
    """Where the pages of ``text`` end, as paragraphs, and what was malformed."""
    found = paragraphs(text, options.longest_paragraph)
    ends, malformed = [0], []
    while ends[-1] < len(found):
        offer = next_offer(found, ends[-1], options)
        if offer.settled:
            ends.append(offer.end)
        else:
            pause = ask_pause(chat, text, found, offer, options)
            ends.append(pause.end)
            malformed += [pause.malformed] if pause.malformed else []
    return ends[1:], malformed


def test_the_labels_of_ten_paragraphs_of_a_hundred_words() -> None:
    """280 words are reached with the third, and the seventh would be beyond 600."""
    found = paragraphs(TEN, ARTICLE.longest_paragraph)
    offer = next_offer(found, 0, ARTICLE)
    assert offer == Offer(0, 6, (3, 4, 5, 6))
    messages = pause_messages(TEN, found, offer, ARTICLE)
    assert labels(messages) == [3, 4, 5, 6]
    parts = Prompt(messages).data.split("\n\n")
    assert " ".join(part[:4] for part in parts) == "Paqa Pbqa Pcqa <3> Pdqa <4> Peqa <5> Pfqa <6> …"
    ends = pause_messages(TEN, found, next_offer(found, 5, ARTICLE), ARTICLE)
    assert Prompt(ends).data.endswith("<5>"), "where the text ends, no dots say that it goes on"


def test_choices_that_are_good_not_offered_and_missing() -> None:
    text = story([100] * 23)
    replies = [paused(4), '{"reasoning": "A scene ends.", "break_point": "4"}', paused(99)]
    chat = ScriptedChat([*replies, "It should go on.", "On and on."])
    ends, malformed = ends_of(text, chat, ARTICLE)
    assert ends == [4, 8, 14, 20, 23]
    assert malformed == [NOT_OFFERED, NO_PAUSE]


@pytest.mark.parametrize(("words", "calls"), [([100, 200, 49], 0), ([100, 200, 50], 1), ([349], 0)])
def test_a_rest_below_350_words_is_the_last_page(words: list[int], calls: int) -> None:
    chat = ScriptedChat(lambda messages: paused(labels(messages)[-1]))
    assert ends_of(story(words), chat, ARTICLE)[0][-1] >= len(words)
    assert len(chat.calls) == calls


def test_one_label_needs_no_call() -> None:
    assert next_offer(of_lengths([290, 320, 300]), 0, ARTICLE).labels == (1,), "the second does not fit"
    assert next_offer(of_lengths([290, 310, 300]), 0, ARTICLE).labels == (1, 2)
    assert next_offer(of_lengths([900, 300]), 0, ARTICLE).settled, "one piece that cannot be cut"
    assert next_offer(of_lengths([100] * 3), 0, ARTICLE) == Offer(0, 3, (3,))


@pytest.mark.parametrize(
    ("options", "begins"),
    [
        (GistOptions.of(question="Who sailed?"), "Paqa"),
        (GistOptions.of("transcript"), "You read last:\n\nBefore.\n\nWhat comes next:"),
    ],
)
def test_the_page_before_is_shown_for_transcripts_alone(options: GistOptions, begins: str) -> None:
    """As in appendix E. A question is shown wherever there is one."""
    found = paragraphs(TEN, options.longest_paragraph)
    chat = ScriptedChat([paused(4)])
    ask_pause(chat, TEN, found, next_offer(found, 0, options), options, "Before.")
    (call,) = chat.calls
    assert ("The reader wants to know: Who sailed?" in call.messages[0]["content"]) == bool(options.question)
    assert Prompt(call.messages).data.startswith(begins)


SIZES = st.tuples(st.integers(1, 300), st.integers(1, 900)).map(sorted)
LENGTHS = st.lists(st.integers(1, 400), min_size=1, max_size=60)


@tries(max_examples=50, deadline=None)
@given(LENGTHS, SIZES, st.integers(0, 1000))
def test_all_pages(lengths: list[int], sizes: list[int], seed: int) -> None:
    least, most = sizes
    options = GistOptions.of(min_words=least, max_words=most)
    # As ``paragraphs`` leaves them: none is longer, unless it cannot be cut, as the hundredth words here.
    lengths = [words if words % 100 == 0 else min(words, options.longest_paragraph) for words in lengths]
    found, chance = of_lengths(lengths), random.Random(seed)
    total, read, steps, ends = sum(lengths), 0, 0, [0]
    while ends[-1] < len(found):
        offer = next_offer(found, ends[-1], options)
        steps += 1
        if offer.settled:
            ends.append(offer.end)
            continue
        words = sum(lengths[offer.first : offer.last])
        assert words <= most, "a call reads no more"
        read += words
        ends.append(offer.first + chance.choice(offer.labels))
    pages = [lengths[start:end] for start, end in zip(ends, ends[1:], strict=False)]
    assert [words for page in pages for words in page] == lengths, "each paragraph is on one page"
    assert all(sum(page) >= least for page in pages[:-1])
    unsplittable = [words for words in lengths if words > options.longest_paragraph]
    for page in pages:
        assert sum(page) <= most or page[-1] in unsplittable or sum(page[:-1]) < least == most
    assert steps <= total / least + 1
    assert read <= (most / least) * total, "section 3.3"


@tries(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 150), min_size=1, max_size=80))
def test_uniform_pages(lengths: list[int]) -> None:
    options = GistOptions.of(uniform=True)
    found = of_lengths(lengths)
    ends = uniform_ends(found, options)
    assert ends == sorted(set(ends))
    assert ends[-1] == len(found)
    pages = [sum(lengths[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    mean = sum(lengths) / len(pages)
    assert all(abs(page - mean) <= max(lengths) for page in pages), "of equal length, but for a paragraph"
    assert len(pages) == 1 or options.min_words <= mean <= options.max_words


def test_the_presets_are_those_of_the_paper() -> None:
    """Table 10: QuALITY and QMSum, NarrativeQA's books, NarrativeQA's film scripts."""
    sizes = {name: (preset.max_words, preset.min_words) for name, preset in PRESETS.items()}
    assert sizes.pop("report") == sizes["article"], "ours has the pages of QuALITY"
    assert sizes == {"article": (600, 280), "transcript": (600, 280), "book": (3000, 500), "script": (1000, 600)}


@pytest.mark.parametrize(("most", "least"), [(400, 187), (600, 280), (1, 1)])
def test_the_largest_size_alone_scales_the_smallest(most: int, least: int) -> None:
    """As in the paper's ablation (Table 6)."""
    options = GistOptions.of(max_words=most)
    assert (options.min_words, options.max_words) == (least, most)
    assert GistOptions.of(min_words=100, max_words=most if most > 100 else 100).min_words == 100


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"preset": "poem"}, 'Unknown preset "poem". Choose one of report, article, book, script, transcript'),
        ({"shrink": "fold"}, 'Unknown shrink "fold". Did you mean older? Choose one of merge, older'),
        ({"min_words": 0}, "min_words is 0: it must be 1 or more"),
        ({"min_words": 700}, "at least 700 and at most 600 words. Give max_words too"),
        ({"question": "  "}, "The question is empty"),
    ],
)
def test_options_that_cannot_be(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=re.escape(complaint)):
        GistOptions.of(**given)


def test_made_says_what_pages_depend_on() -> None:
    one = GistOptions.of("book", max_words=1500, instruction="Keep dates.", question="Who?")
    assert json.loads(one.made) == {
        "preset": "book", "min": 250, "max": 1500, "uniform": False, "instruction": "Keep dates.",
    }  # fmt: skip
    assert json.loads(GistOptions.of(fit=5, shrink="older").made_to_fit)["shrink"] == "older"
    assert GistOptions.of(fit=5).made == GistOptions.of().made, "what fits depends on nothing else"
