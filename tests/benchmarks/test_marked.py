"""What of labelled statements is marked as not in the cited text: exchanged names, numbers, dates, and right ones.

``marked.jsonl`` has a statement a line, with the sentences that it cites and what stands beside those: the sentences
before and after, and the title. ``exchanged`` says what was exchanged in it, for one of the same kind from other texts
(drawn once by seed 45; a name in a script without capitals, and a single word in German, is not exchanged). The part
"made with" was looked at while the rule was made, "held out" was not; of "relations" a relation was changed by hand,
which the rule does not see. The texts were written for this project or are in the public domain: The World Factbook;
Project Gutenberg 16595, 17074 and 18304; Encyclopaedia Britannica, 11th edition; the handbook of the Technology
Transformation Services.
"""

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tables import Section, Table

from kgplatform.readers.grounding import unread


def test_marked(section: Callable[[str, str], Section]) -> None:
    found = section("marked", "Marks: what of a statement is not in the cited text, without a language model")
    labelled = [json.loads(line) for line in Path(__file__).with_name("marked.jsonl").read_text("utf-8").splitlines()]
    begun = time.process_time()
    marks = [bool(unread(each["statement"], [*each["cited"], *each["beside"]]).words) for each in labelled]
    spent = time.process_time() - begun
    marked, of = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for each, mark in zip(labelled, marks, strict=True):
        change = (each["part"], each.get("exchanged", "relation" if each["part"] == "relations" else "right"))
        marked[change] += mark
        of[change] += 1

    def share(is_right: bool) -> float:
        chosen = [change for change in of if change[0] != "relations" and (change[1] == "right") is is_right]
        return 100 * sum(marked[change] for change in chosen) / sum(of[change] for change in chosen)

    found.add("of exchanged names, numbers and dates, marked", share(False), "%", at_least=95)
    found.add("of right statements, marked", share(True), "%", at_most=5)
    found.add("processor time of one statement, mean", 1000 * spent / len(labelled), "ms")
    rows = [(*change, str(marked[change]), str(of[change])) for change in sorted(of)]
    found.tables.append(Table("Statements marked", ("", "changed", "marked", "of"), rows))
