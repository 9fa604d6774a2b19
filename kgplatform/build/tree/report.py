"""What a build or an update of the tree did, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass, field

from kgplatform.records import Usage


@dataclass(frozen=True, slots=True)
class LargeCommunity:
    """One of the largest communities, as the graph has it now. ``name_by``: "model" or "members"."""

    id: str
    name: str
    name_by: str
    summary: str
    depth: int
    size: int
    keywords: tuple[str, ...]


@dataclass(slots=True)
class TreeReport:
    """What ``kgplatform tree`` did. ``depths``: how many communities there are at each depth, the top first.

    ``communities_kept``, ``_new`` and ``_gone`` add up to those before and now; ``entities_moved`` were with others
    before. Each community's name is counted once: ``named_by_model`` in this run, ``named_by_members`` put together in
    this run or asked for in vain, ``named_after_member`` the new names of communities of one, ``names_kept`` the rest.
    ``failed_names``: those of ``named_by_members`` that the model was asked for in vain. ``names_without_model``: those
    of ``names_kept`` that it could give, but is asked for only by a rebuild. ``calls``: prompts that were sent to it.
    """

    method: str
    action: str = ""
    entities: int = 0
    communities: int = 0
    depths: list[int] = field(default_factory=list)
    keywords: int = 0
    entities_new: int = 0
    entities_gone: int = 0
    entities_changed: int = 0
    entities_moved: int = 0
    communities_kept: int = 0
    communities_new: int = 0
    communities_gone: int = 0
    named_by_model: int = 0
    named_by_members: int = 0
    named_after_member: int = 0
    names_kept: int = 0
    names_without_model: int = 0
    failed_names: int = 0
    failures: list[str] = field(default_factory=list)
    calls: int = 0
    usage: dict[str, Usage] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    largest: list[LargeCommunity] = field(default_factory=list)
    stopped: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether the run went to its end."""
        return not self.stopped
