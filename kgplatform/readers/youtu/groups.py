"""Questions about groups: the communities of the tree that are near, with their summaries and the facts under them.

The summaries lead; the facts and passages under them are evidence like any other, and are what can be cited.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgplatform.errors import InputError
from kgplatform.readers.window import cut
from kgplatform.records import FoundCommunity
from kgplatform.retrieve.evidence import Evidence, Retrieved

MOST = 5
"""Communities whose summaries are shown."""
_LONGEST = 150
"""Tokens of a summary."""


def near_groups(question: str, evidence: Evidence, top_k: int) -> Retrieved | None:
    """What the route ``community`` finds; None where the graph has no finished tree."""
    try:
        return evidence.search(question, route="community", top_k=top_k)
    except InputError:
        return None


def shown_groups(communities: Sequence[FoundCommunity]) -> str:
    """Names and summaries as notes of a prompt have them; empty without any."""
    lines = [f"- {each.name} ({each.size:,} members): {_short(each.summary)}" for each in communities[:MOST]]
    return (
        "\n".join(["Groups near the question (their facts and passages are in the evidence):", *lines]) if lines else ""
    )


def _short(summary: str) -> str:
    return cut(summary, _LONGEST)[0].strip() if summary.strip() else "no summary"
