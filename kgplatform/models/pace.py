"""How many requests a model's server is sent at once, and how long one of them may be silent.

    pace = Pace(None, patience=120)
    with pace.one(stop) as turn:        # waits until one more may be sent
        pace.sent(turn, 812)            # with a prompt of 812 tokens
        pace.heard(turn)                # a token came
        pace.left(turn)                 # the seconds for which it may be silent from now
        turn.work = 96                  # what came of it

No server of Ollama or LM Studio tells how many requests it answers at once, so that is tried: two at first, more while
more is answered in the same time, fewer as soon as fewer bring as much. Only time in which all that may be sent is
sent counts, and of a trial only what is far from chance: a server of one slot loses nothing by a request that waits.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from kgplatform.settings import MOST_CALLS
from kgplatform.work.stopping import Stop

_FIRST = 2
_WORTH = 0.25
"""Of what twice as many requests could bring, the part that they must: 1.25 times as much."""
_SURE = 8
"""Replies that a trial takes at least, once the first doubling is over."""
_RESTS = (2, 16)
"""How many times the replies of a trial come between two of them: least, and most where trials change nothing."""
_READING = 2000
"""Tokens of a prompt for which a server may be silent as long again before the first token of its reply: processors
read 20 to 60 tokens a second."""
_OVERTAKEN = 64
"""Later requests that were answered, after which a silent one no longer counts as one that waits for its slot."""


@dataclass(eq=False)
class Turn:
    """One request. ``work``: tokens that came of it, None if nothing did; ``begun``: when the first came, else None;
    ``last``: when it was last heard of."""

    number: int = 0
    sent: float = 0.0
    last: float = 0.0
    prompt: int = 0
    begun: float | None = None
    overtaken: int = 0
    work: float | None = None


class Pace:
    """A fair semaphore, first come, first served, whose size is ``fixed``, or follows the server's speed (None).

    ``patience``: seconds for which a request may be silent. Several threads may use it at once.
    """

    def __init__(
        self, fixed: int | None = None, patience: float = 120.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limit = fixed or _FIRST
        """How many requests may be in progress."""
        self._most = fixed or MOST_CALLS
        self._adapts = fixed is None
        self._patience = patience
        self._clock = clock
        self._asked = False
        self._taken = 0
        self._waiting: deque[Future[None]] = deque()
        self._under_way: set[Turn] = set()
        self._last = self._halved = 0
        self._heard = 0.0
        self._lock = threading.Lock()
        self._trial = _Trial(self.limit, self._most)

    @contextmanager
    def one(self, stop: Stop) -> Iterator[Turn]:
        """Inside of it a request may be sent. Raises ``StoppedError`` where ``stop`` is set before it may."""
        place = self.queue()
        try:
            stop.result_of(place)
        except BaseException:  # whatever it is: the place goes to another, and it is raised
            self._leave(place)
            raise
        turn = Turn()
        try:
            yield turn
        finally:
            self.over(turn)

    def queue(self) -> Future[None]:
        """A place in the queue; it is done when one may be sent, and ``over`` gives that back."""
        place: Future[None] = Future()
        with self._lock:
            self._waiting.append(place)
            self._admit()
        return place

    def sent(self, turn: Turn, prompt: int = 0) -> None:
        """The request of ``turn`` is sent, with a prompt of so many tokens."""
        with self._lock:
            self._last += 1
            turn.number, turn.prompt = self._last, prompt
            turn.sent = turn.last = self._clock()
            self._under_way.add(turn)

    def heard(self, turn: Turn) -> None:
        """A token of its reply came."""
        with self._lock:
            is_awake = self._heard > 0
            turn.last = self._heard = self._clock()
            if not is_awake:  # until then it may have loaded the model
                self._trial.restart(self._heard)
            if turn.begun is not None:
                return
            turn.begun = turn.last
            # Nothing waits at the server, and more waits here: what comes of more need not be waited for.
            has_more = self._waiting and len(self._under_way) >= self.limit
            if has_more and self._adapts and all(each.begun is not None for each in self._under_way):
                self._trial.double()
                self._admit()

    def over(self, turn: Turn) -> None:
        """The request has ended; ``turn.work`` says what came of it."""
        with self._lock:
            self._taken -= 1
            self._under_way.discard(turn)
            for other in self._under_way:
                other.overtaken += other.number < turn.number
            if turn.work is not None:
                self._heard = self._clock()
                if self._adapts:
                    self._trial.replied(turn.work, turn.sent if turn.begun is None else turn.begun, self._heard)
            self._admit()

    def left(self, turn: Turn) -> float:
        """The seconds for which ``turn`` may still be silent.

        Before its first token it may wait at the server for those before it: what the server says to them counts for
        it too, and time to read the prompt comes on top.
        """
        with self._lock:
            now = self._clock()
            if turn.begun is not None:
                return turn.last + self._patience - now
            since = turn.last if turn.overtaken >= _OVERTAKEN else max(turn.last, self._heard)
            return since + self._patience * (1 + turn.prompt / _READING) - now

    def failed(self, turn: Turn) -> None:
        """The server did not answer, or is busy: half as many from now on, once for all that were sent before."""
        with self._lock:
            if self._adapts and turn.number > self._halved:
                self._halved = self._last
                self._trial.halve()
                self._admit()

    def asks(self) -> bool:
        """Whether somebody should now ask the server for its slots; true once, when the first request has to wait."""
        with self._lock:
            is_due = self._adapts and not self._asked and self._taken >= self.limit
            self._asked = self._asked or is_due
            return is_due

    def told(self, slots: object) -> None:
        """The server has so many slots, which are used from now on; what is no number is not heard."""
        with self._lock:
            if isinstance(slots, int) and slots > 0:
                self._adapts = False
                self._trial.limit = slots
                self._admit()

    def _leave(self, place: Future[None]) -> None:
        with self._lock:
            if place.done():
                self._taken -= 1
                self._admit()
            else:
                self._waiting.remove(place)

    def _admit(self) -> None:
        """Let those go on that may, and say whether all that may be sent is sent."""
        self.limit = self._trial.limit
        while self._waiting and self._taken < self.limit:
            self._taken += 1
            self._waiting.popleft().set_result(None)
        if self._adapts:
            self._trial.taken(self._taken, self._clock())


class _Trial:
    """Climbs to the number of requests in progress from which more bring little: ``limit``.

    What one brings is measured over as many replies as are in progress, while as many are as may be. Then another is
    tried, first twice as many, and kept if it is better; at the end there is a rest.
    """

    def __init__(self, limit: int, most: int) -> None:
        self.limit = limit
        self._is_first = True
        self._most = most
        self._rest = _RESTS[0]
        self._begin()
        self._restart(self.limit)

    def taken(self, number: int, now: float) -> None:
        """So many are in progress. Nothing is measured while there are fewer, or still more, than may be."""
        if number != self.limit:
            self._restart(self._wanted)
        elif self._since is None:
            self._since = now

    def restart(self, now: float) -> None:
        """Measure from ``now`` on, if anything is measured."""
        self._since = now if self._since is not None else None

    def replied(self, work: float, begun: float, now: float) -> None:
        """A request ended that brought ``work``. Of one that was ``begun`` before the trial, a part counts."""
        if self._since is None or now <= self._since:
            return
        part = (now - self._since) / (now - min(begun, self._since))
        self._work += work * part
        self._replies += part
        if self._replies > self._wanted - 0.5:
            self._judge(self._work / (now - self._since))

    def double(self) -> None:
        """Go on without a measurement, while it still doubles: the server answers all that it has."""
        if self._is_first:
            self._begin()
            self._go(min(self._most, 2 * self.limit))

    def halve(self) -> None:
        """The server cannot do so many."""
        self._is_first = False
        self._begin()
        self._go(max(1, self.limit // 2), self._rest)

    def _begin(self) -> None:
        self._best: tuple[int, float] | None = None
        self._up, self._moved, self._failures = True, False, 0

    def _restart(self, wanted: int) -> None:
        self._since: float | None = None
        self._work, self._replies, self._wanted = 0.0, 0.0, wanted

    def _go(self, limit: int, times: int = 1) -> None:
        self.limit = limit
        self._restart(limit if self._is_first else times * max(_SURE, limit))

    def _judge(self, speed: float) -> None:
        """``speed``, in tokens a second, is what ``limit`` brings: keep it or leave it, and try the next."""
        if self._best is None:
            self._best = self.limit, speed
        elif self._is_better(*self._best, speed):
            self._best, self._moved = (self.limit, speed), True
        else:
            self._turn_round()
        best = self._best[0]
        while self._failures < 2:
            first = 3 * best if self._moved else best
            step = (first if self._is_first else max(1, best // 4)) * (1 if self._up else -1)
            if (following := min(self._most, max(1, best + step))) != best:
                return self._go(following)
            self._turn_round()
        self._rest = _RESTS[0] if self._moved else min(2 * self._rest, _RESTS[1])
        self._begin()
        return self._go(best, self._rest)

    def _is_better(self, limit: int, speed: float, now: float) -> bool:
        """Whether ``self.limit`` at a speed of ``now`` is better than ``limit`` at ``speed``: the larger must be worth
        it."""
        larger, smaller = max(limit, self.limit), min(limit, self.limit)
        worth = 1 + _WORTH * (larger / smaller - 1)
        return now > speed * worth if self.limit == larger else now * worth > speed

    def _turn_round(self) -> None:
        """This way leads no further; the other was tried already where this one led somewhere."""
        self._is_first = False
        self._up = not self._up
        self._failures += 2 if self._moved else 1
