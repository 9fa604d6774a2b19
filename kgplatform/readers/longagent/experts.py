"""The kinds of members that LongAgent's leader can recruit (LongAgent, arXiv 2402.11550, table 2).

EXPERTS["math"].name, EXPERTS["math"].resolves       # 'Math member', False
find_expert("qa MEMBER")                             # EXPERTS["qa"]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kgplatform.text import type_key

Task = Literal["qa", "kv", "number", "passkey", "math", "auto"]


@dataclass(frozen=True, slots=True)
class Expert:
    """A kind of member. ``good_at`` is what the leader chooses by, ``work`` tells it what the team is to do.

    ``resolves``: members with different answers contradict each other, since one part has the answer. Where an answer
    is made from the values of all parts, different values are no conflict (appendix B.4.1).
    """

    name: str
    good_at: str
    work: str
    resolves: bool = True


EXPERTS: dict[str, Expert] = {
    "qa": Expert(
        "QA member",
        "answers questions",
        "Answer the question from the passages. The answer must be taken from the passages.",
    ),
    "kv": Expert(
        "KV member", "finds the value of a key in a dictionary", "Find the value that belongs to a key in a dictionary."
    ),
    "number": Expert(
        "NS member",
        "finds repeated numbers that are hidden in a long text of noise",
        "Find the number that is hidden, and repeated, in a long text of noise.",
    ),
    "passkey": Expert(
        "PassKey member",
        "finds keys that are hidden in a long text of noise",
        "Find the pass key that is hidden in a long text of noise.",
    ),
    "math": Expert(
        "Math member",
        "finds special integers in a long list",
        "Find special numbers in a long list of numbers.",
        resolves=False,
    ),
}


def find_expert(name: str) -> Expert | None:
    """The kind that ``name`` means, whatever its case and with or without "member"; None if there is none."""
    wanted = type_key(name).removesuffix("member")
    return next((each for each in EXPERTS.values() if type_key(each.name).removesuffix("member") == wanted), None)


def listed() -> str:
    """All kinds, one a line."""
    return "\n".join(f"- {each.name}: {each.good_at}" for each in EXPERTS.values())
