"""Passages that a pass reads with a model, marked in the graph: another pass waits for them rather than paying again.

mine = claimed(turn, ["2f6d…", "9a01…"], room.make)      # the others were read by somebody else meanwhile

A claim counts as long as its pass does (``kgplatform.neo4j.passes``), and needs no giving back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kgplatform.neo4j.passes import Pass, is_over
from kgplatform.neo4j.store import Row

_LOOKED_EVERY = 0.5

RELEASED: Row = {"claimedBy": None}
"""The properties of a passage that was read."""


def claimed(turn: Pass, passages: Sequence[str], make_room: Callable[[], bool]) -> frozenset[str]:
    """Those of ``passages`` that the pass is to read. Waits while another one reads any of them.

    ``make_room`` is called meanwhile, and says if others may have changed the graph since.
    """
    wanted, mine, gone = sorted(passages), set[str](), list[str]()
    while wanted:
        (rows,) = turn.store.write(("ingest/claim", {"passages": wanted, "pass": turn.id, "gone": gone}))
        mine.update(row["id"] for row in rows if not row["done"] and row["holder"] == turn.id)
        others = [row for row in rows if not row["done"] and row["holder"] != turn.id]
        wanted = [row["id"] for row in others]
        gone = sorted({row["holder"] for row in others if is_over(row["holder"])})
        if wanted and not gone:
            turn.store.stop.sleep(_LOOKED_EVERY)
            if make_room():
                wanted = sorted(passages)
                mine.clear()
    return frozenset(mine)
