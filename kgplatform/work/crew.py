"""Work that waits on a language model, several pieces at once, in an order of precedence.

    stopped = run(works, at_once=8)      # '' or why it stopped before all was done

A piece waits in a thread of its own (``call``); what follows from it happens in the caller's thread, one piece at a
time (``done``, ``failed``), and may be more work. So what follows may write, count and report without locks.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from itertools import count
from typing import Any

from kgplatform.errors import BudgetError, ModelError
from kgplatform.work.threads import pool_of


@dataclass(frozen=True, slots=True)
class Work:
    """One piece. ``order``: those with a lower one go first, then those that were there first.

    ``done`` gets what ``call`` returned, ``failed`` the ``ModelError`` that it raised; both return the work that
    follows. After a ``BudgetError`` neither is called, and nothing new begins.
    """

    order: int
    call: Callable[[], Any]
    done: Callable[[Any], Iterable[Work]]
    failed: Callable[[ModelError], Iterable[Work]]


def run(works: Iterable[Work], at_once: int) -> str:
    """Do ``works`` and all that follows from them; returns why that stopped early, or ''.

    What is under way when the budget is used up is paid for, and taken. Other errors than ``ModelError`` are raised.
    """
    number, stopped = count(), ""
    ready = [(work.order, next(number), work) for work in works]
    heapq.heapify(ready)
    under_way: dict[Future[Any], Work] = {}
    with pool_of(at_once) as pool:
        while under_way or (ready and not stopped):
            while ready and not stopped and len(under_way) < at_once:
                work = heapq.heappop(ready)[2]
                under_way[pool.submit(work.call)] = work
            finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in sorted(finished, key=list(under_way).index):
                work = under_way.pop(future)
                try:
                    result = future.result()
                except BudgetError as error:
                    stopped = stopped or str(error)
                    continue
                except ModelError as error:
                    following = work.failed(error)
                else:
                    following = work.done(result)
                for each in following:
                    heapq.heappush(ready, (each.order, next(number), each))
    return stopped
