"""Data sets as they are published, and one's own questions, read from files that the user has.

    from kgplatform.evaluate.datasets import load, write_corpus

    dataset = load(Path("musique"))            # a file or a folder; which data set it is, is seen by its content
    write_corpus(dataset, Path("musique.jsonl"))

docs/reference/data-sets.md has the formats, and what is used of them.
"""

from __future__ import annotations

from kgplatform.evaluate.datasets.formats import DATA_SETS, load, write_corpus, write_questions

__all__ = ["DATA_SETS", "load", "write_corpus", "write_questions"]
