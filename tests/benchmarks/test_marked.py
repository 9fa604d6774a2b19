"""What of labelled statements is marked as not in the cited text: exchanged names, numbers, dates, and right ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import yaml
from tables import Section, Table

from kgplatform.readers.grounding import unread


def test_marked(section: Callable[[str, str], Section]) -> None:
    found = section("marked", "Marks: what of a statement is not in the cited text, without a language model")
    labelled = yaml.safe_load(Path(__file__).with_name("marked.yaml").read_text("utf-8"))
    rows = []
    begun = time.process_time()
    marks: dict[str, dict[str, list[bool]]] = {}
    for part, statements in labelled.items():
        for each in statements:
            words = unread(each["statement"], [*each["cited"], *each["beside"]]).words
            marks.setdefault(part, {}).setdefault(
                each.get("exchanged", "right" if part != "relations" else "relation"), []
            ).append(bool(words))
    spent = time.process_time() - begun
    for part, of_part in marks.items():
        rows += [(part, change, str(sum(each)), str(len(each))) for change, each in sorted(of_part.items())]
    by_change = {change: marks["made with"][change] + marks["held out"][change] for change in marks["held out"]}
    right = by_change.pop("right")
    exchanged = [mark for each in by_change.values() for mark in each]
    found.add("of exchanged names, numbers and dates, marked", 100 * sum(exchanged) / len(exchanged), "%", at_least=95)
    found.add("of right statements, marked", 100 * sum(right) / len(right), "%", at_most=5)
    found.add("processor time of one statement, mean", 1000 * spent / sum(map(len, labelled.values())), "ms")
    found.tables.append(Table("Statements marked", ("", "changed", "marked", "of"), rows))
