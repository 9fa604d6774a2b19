"""Presets and sizes of pages, and what a memory says of how it was made."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kgplatform.errors import InputError
from kgplatform.gist.options import PRESETS, GistOptions


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
