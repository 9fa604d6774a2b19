"""The languages that an ingest brings into a graph, for a word about those that the embedding model does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kgplatform.ingest.compare import Group
from kgplatform.neo4j.store import Store
from kgplatform.text.languages import ENGLISH, language_of


class NewLanguages:
    """Languages other than English of new and changed documents, in which none of the graph's was before.

    What the graph has is asked for once, with the first document that is not English: most ingests never do. Where the
    documents of an older graph had no language yet (not ``are_told``), all of theirs are new.
    """

    def __init__(self, store: Store, *, are_told: bool) -> None:
        self._store = store
        self.are_told = are_told
        self._documents: Counter[str] = Counter()
        self._before: frozenset[str] | None = None

    def among(self, groups: Iterable[Group]) -> Iterator[Group]:
        """``groups``, each looked at before it is written."""
        for group in groups:
            news = (each.document.text for each in group.documents if each.verdict in ("added", "changed"))
            found = [code for code in map(language_of, news) if code not in ("", ENGLISH)]
            if found and self._before is None:
                self._before = frozenset(self._there())
            self._documents.update(found)
            yield group

    @property
    def codes(self) -> list[str]:
        """ISO 639-1; those of most documents first."""
        if not self.are_told:
            return self._there()
        ranked = sorted(self._documents.items(), key=lambda each: (-each[1], each[0]))
        return [code for code, _ in ranked if code not in (self._before or ())]

    def _there(self) -> list[str]:
        found = (row["language"] for row in self._store.read("ingest/languages"))
        return [code for code in found if code != ENGLISH]
