"""What readers need beside the text: pages with gists, a knowledge tree, atomic facts. Said, or built beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import BudgetError, InputError, SettingError
from kgplatform.evaluate.comparators import OFFICIAL, is_installed
from kgplatform.evaluate.results import Build, Setup
from kgplatform.evaluate.setups import needs, resolved
from kgplatform.ingest.extract_pass import passages_without_facts
from kgplatform.ingest.graph_state import graph_state
from kgplatform.records import Progress
from kgplatform.text import counted

_COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class Missing:
    """What a graph lacks for some setups: how many documents have no pages, how many passages no atomic facts from a
    model or a recording, and whether there is no tree. ``readers``: the setups that need pages; ``walkers``: the
    readers that need facts."""

    pages: int = 0
    facts: int = 0
    tree: bool = False
    readers: tuple[str, ...] = ()
    walkers: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each thing without which a reader works, but not as it is meant to."""
        notes = []
        if self.tree:
            notes.append(
                "There is no knowledge tree, so nothing was found by communities: run `kgplatform tree`, or --prepare."
            )
        if self.facts:
            notes.append(
                f"There are passages without atomic facts from a model, and {' and '.join(self.walkers)} walked over "
                "what they have instead: run `kgplatform ingest --facts`, or --prepare."
            )
        return tuple(notes)


def check_installed(setups: Sequence[Setup]) -> None:
    """Raise ``SettingError`` where a setup needs a package that is not installed."""
    official = [each.name for each in setups if each.reader in OFFICIAL]
    if official and not is_installed():
        raise SettingError(f"{official[0]} needs neo4j-graphrag. Run `pip install 'kgplatform[graphrag]'`.")


def missing(kg: KnowledgeGraph, setups: Sequence[Setup]) -> Missing:
    """What ``setups`` would use and ``kg`` does not have."""
    wanted = {need: tuple(each for each in setups if need in needs(each)) for need in ("gists", "facts", "tree")}
    tree = bool(wanted["tree"]) and graph_state(kg.store).get("treeState") != _COMPLETE
    return Missing(
        sum(not each.pages for each in kg.documents()) if wanted["gists"] else 0,
        len(passages_without_facts(kg.store, None)) if wanted["facts"] else 0,
        tree,
        tuple(each.name for each in wanted["gists"]),
        tuple(dict.fromkeys(each.reader for each in wanted["facts"])),
    )


def check_prepared(kg: KnowledgeGraph, setups: Sequence[Setup]) -> tuple[str, ...]:
    """Notes on what is missing. Raises ``InputError`` where a setup could not answer any question without it."""
    lacking = missing(kg, setups)
    if lacking.pages:
        lack = f"{counted(lacking.pages, 'document')} {'has' if lacking.pages == 1 else 'have'} none"
        names = " and ".join(lacking.readers)
        raise InputError(f"{names} reads gists of pages, and {lack}. Run `kgplatform gist` first, or add --prepare.")
    by_community = [each.name for each in setups if resolved(each).get("route") == "community"]
    if lacking.tree and by_community:
        raise InputError(
            f"{' and '.join(by_community)} searches by communities, and there is no knowledge tree. Run "
            "`kgplatform tree` first, or add --prepare."
        )
    return lacking.notes


def prepare(kg: KnowledgeGraph, setups: Sequence[Setup], build: Build, progress: Progress) -> tuple[str, ...]:
    """Build what is missing; returns a note for each part that could not be built whole.

    What is there already, and was built with the same options, costs nothing. Raises ``BudgetError`` where the tokens
    ran out: what was built until then is kept.
    """
    lacking = missing(kg, setups)
    notes = []
    if lacking.facts:
        read = kg.ingest(facts=True, progress=progress)
        _check(read.stopped)
        if read.facts_failed:
            notes.append("The atomic facts of some passages could not be read.")
    if lacking.pages or (lacking.readers and build.gist):
        gists = kg.gist(**build.gist, progress=progress)
        _check(gists.stopped)
        if gists.failed:
            notes.append("The gists of some pages could not be written.")
    if lacking.tree and kg.stats().nodes.get("Entity"):  # of a text without any there is no tree to build
        _check(kg.build_tree(progress=progress).stopped)
    return tuple(notes)


def _check(stopped: str) -> None:
    if stopped:
        raise BudgetError(stopped)
