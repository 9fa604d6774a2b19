"""Which reader answers, and with which of its options. An option that the chosen reader does not have is refused.

answer = answer_with("youtu", Wishes(agent=False), question, evidence, chat, ledger, schema)
"""

from __future__ import annotations

from dataclasses import dataclass

from kgplatform.errors import InputError
from kgplatform.llm import Chat, Ledger
from kgplatform.readers import retrieve, youtu
from kgplatform.readers.answering import AnswerMode
from kgplatform.records import Answer
from kgplatform.retrieve.evidence import Evidence

READERS = ("retrieve", "youtu")
MODES = ("reject", "open")
_TOP_K = {"retrieve": 10, "youtu": 20}
"""The paper of Youtu-GraphRAG reports its main results with 20 (section 4.4.2)."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user wants of a reader. None stands for the reader's own default.

    ``route`` is the reader retrieve's; ``agent``, ``community`` and ``schema`` are the reader youtu's, to be set to
    False for its ablations.
    """

    mode: AnswerMode = "reject"
    route: str | None = None
    top_k: int | None = None
    agent: bool = True
    community: bool = True
    schema: bool = True


def check_wishes(reader: str, wishes: Wishes) -> None:
    """Raise ``InputError`` for a reader or a mode that does not exist, or an option that the reader does not have."""
    if reader not in READERS:
        raise InputError(f"There is no reader {reader!r}; there are {_listed(READERS)}.")
    if wishes.mode not in MODES:
        raise InputError(f"There is no mode {wishes.mode!r}; there are {_listed(MODES)}.")
    if wishes.top_k is not None and wishes.top_k < 1:
        raise InputError("top_k must be at least 1.")
    off = [f"no_{name}" for name in ("agent", "community", "schema") if not getattr(wishes, name)]
    foreign = off if reader == "retrieve" else ["route"] if wishes.route is not None else []
    if foreign:
        owner = "youtu" if reader == "retrieve" else "retrieve"
        options = " and ".join(f"--{name.replace('_', '-')}" for name in foreign)
        raise InputError(f"The reader {reader} has no option {options}. Leave it out, or use the reader {owner}.")


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(names)


def answer_with(
    reader: str,
    wishes: Wishes,
    question: str,
    evidence: Evidence,
    chat: Chat | None,
    ledger: Ledger,
    schema: youtu.SchemaTypes | None,
) -> Answer:
    """The answer of ``reader``, whose ``wishes`` were checked. ``schema`` is the graph's, with what was added to it."""
    top_k = wishes.top_k or _TOP_K[reader]
    if reader == "retrieve":
        return retrieve.answer(question, evidence, chat, ledger, wishes.mode, route=wishes.route or "all", top_k=top_k)
    options = youtu.Options(wishes.mode, wishes.agent, wishes.community, wishes.schema, top_k)
    return youtu.answer(question, evidence, chat, ledger, schema, options)
