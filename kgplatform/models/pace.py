"""How many requests a model's server is sent at once, and how long one of them may be silent.

    with pace.one(stop) as turn:        # waits until one more may be sent
        pace.sent(turn, 812)            # with a prompt of 812 tokens
        pace.heard(turn)                # a token came
        pace.left(turn)                 # the seconds for which it may be silent from now
        turn.work = 96                  # what came of it

Ollama and LM Studio do not tell how many requests they answer at once, so that is tried: two at first; more while more
is answered in the same time, fewer as soon as fewer bring as much.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from kgplatform.concurrency.threads import Stop
from kgplatform.settings import MOST_CALLS

_WORTH = 0.25
"""Of what twice as many requests could bring, the part that they must: 1.25 times as much."""
_SURE = 8
"""Replies of a trial, at least, once the first doubling is over; and trials that a rest between two takes."""
_READING = 2000
"""Tokens of a prompt for which a server may be silent as long again: processors read 20 to 60 a second."""
_OVERTAKEN = 64
"""Later requests that were answered, after which a silent one no longer counts as one that waits for its slot."""


@dataclass(eq=False)
class Turn:
    """One request. ``begun``: when its first token came; ``work``: tokens that came of it; None for nothing."""

    number: int = 0
    prompt: int = 0
    sent: float = 0.0
    last: float = 0.0
    begun: float | None = None
    overtaken: int = 0
    work: float | None = None


class Pace:
    """A fair semaphore of a ``fixed`` size, or of one that follows the server's speed (None).

    ``patience``: seconds for which a request may be silent. Several threads may use it at once.
    """

    def __init__(
        self, fixed: int | None = None, patience: float = 120.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._climb = _Climb(fixed)
        self._patience, self._clock = patience, clock
        self._taken = self._number = self._halved = 0
        self._heard = 0.0
        self._waiting: deque[Future[None]] = deque()
        self._under_way: set[Turn] = set()
        self._lock = threading.Lock()

    @property
    def limit(self) -> int:
        """How many requests may be in progress."""
        return self._climb.limit

    @contextmanager
    def one(self, stop: Stop) -> Iterator[Turn]:
        """Inside of it a request may be sent. Raises ``StoppedError`` where ``stop`` is set before it may."""
        place, turn = self.queue(), Turn()
        try:
            stop.result_of(place)
            yield turn
        finally:
            self.over(turn, place)

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
            self._number += 1
            turn.number, turn.prompt, turn.sent = self._number, prompt, self._clock()
            turn.last = turn.sent
            self._under_way.add(turn)

    def heard(self, turn: Turn) -> None:
        """A token of its reply came."""
        with self._lock:
            turn.last = self._clock()
            if not self._heard:  # until now the server may have loaded the model
                self._climb.restart(turn.last)
            self._heard = turn.last
            if turn.begun is None:
                turn.begun = turn.last
                has_more = self._waiting and len(self._under_way) >= self.limit
                # Nothing waits at the server, and more waits here: what comes of more need not be waited for.
                if has_more and all(each.begun is not None for each in self._under_way):
                    self._climb.double()
                    self._admit()

    def over(self, turn: Turn, place: Future[None] | None = None) -> None:
        """The request has ended, or nobody waits in its ``place`` any more."""
        with self._lock:
            if place is not None and place in self._waiting:
                self._waiting.remove(place)
                return
            self._taken -= 1
            self._under_way.discard(turn)
            for other in self._under_way:
                other.overtaken += other.number < turn.number
            if turn.work is not None:
                self._heard = self._clock()
                self._climb.replied(turn.work, turn.begun or turn.sent, self._heard)
            self._admit()

    def left(self, turn: Turn) -> float:
        """The seconds for which ``turn`` may still be silent. Before its first token it may wait at the server for
        others: what the server says to them counts for it too, and time to read the prompt comes on top."""
        with self._lock:
            since, patience = turn.last, self._patience
            if turn.begun is None:
                patience *= 1 + turn.prompt / _READING
                since = max(since, self._heard if turn.overtaken < _OVERTAKEN else 0)
            return since + patience - self._clock()

    def failed(self, turn: Turn) -> None:
        """The server did not answer, or is busy: half as many from now on, once for all that were sent before."""
        with self._lock:
            if turn.number > self._halved:
                self._halved = self._number
                self._climb.halve()

    def learn(self, slots: Callable[[], object]) -> None:
        """As the first request has to wait, ask the server for its ``slots``; if it has a number, that is the limit."""
        if self._taken < self.limit or self._climb.is_told:
            return
        self._climb.is_told = True
        number = slots()
        with self._lock:
            if isinstance(number, int) and number > 0:
                self._climb = _Climb(number)
                self._admit()

    def _admit(self) -> None:
        while self._waiting and self._taken < self.limit:
            self._taken += 1
            self._waiting.popleft().set_result(None)
        self._climb.taken(self._taken, self._clock())


class _Climb:
    """Climbs to the ``limit`` of requests in progress from which more bring little; one that is ``fixed`` stays.

    What a limit brings is measured over as many replies, while as many are in progress. Then another is tried, first
    twice as many, and kept if it is better; at the end there is a rest. ``is_told``: the server was asked.
    """

    def __init__(self, fixed: int | None) -> None:
        self.limit = fixed or 2
        self._since: float | None = None
        self.is_told = self._is_fixed = fixed is not None
        self._doubles = True
        self._anew(self.limit)

    def taken(self, number: int, now: float) -> None:
        """So many are in progress. Nothing is measured while there are fewer, or still more, than may be."""
        if number != self.limit:
            self._since, self._work, self._replies = None, 0.0, 0.0
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
        self._work, self._replies = self._work + work * part, self._replies + part
        if self._replies > self._wanted - 0.5:
            self._judge(self._work / (now - self._since))

    def double(self) -> None:
        """Go on without a measurement, while it still doubles: the server answers all that it has."""
        if self._doubles:
            self._anew(2 * self.limit)

    def halve(self) -> None:
        """The server cannot do so many."""
        self._doubles = False
        self._anew(self.limit // 2, _SURE)

    def _anew(self, limit: int, rest: int = 1) -> None:
        self._best: tuple[int, float] | None = None
        self._way, self._moved, self._failures = 1, False, 0
        self._try(limit, rest)

    def _try(self, limit: int, rest: int = 1) -> None:
        self.limit = self.limit if self._is_fixed else min(MOST_CALLS, max(1, limit))
        self._wanted = self.limit if self._doubles else rest * max(_SURE, self.limit)
        self._since, self._work, self._replies = None, 0.0, 0.0

    def _judge(self, speed: float) -> None:
        """``speed``, in tokens a second, is what ``limit`` brings: keep it or leave it, and try the next."""
        limit, before = self._best or (self.limit, 0.0)
        # The larger of the two must be worth it.
        worth = 1 + _WORTH * (max(limit, self.limit) / min(limit, self.limit) - 1)
        if speed * worth > before if self.limit <= limit else speed > before * worth:
            self._moved = self._best is not None
            self._best, best = (self.limit, speed), self.limit
        else:
            self._turn_round()
            best = limit
        while self._failures < 2:
            step = max(1, best // 4) if not self._doubles else 3 * best if self._moved else best
            if best + step * self._way > 0 and (best < MOST_CALLS or self._way < 0):
                return self._try(best + step * self._way)
            self._turn_round()
        return self._anew(best, _SURE)

    def _turn_round(self) -> None:
        """This way leads no further; where it led somewhere, the other leads back."""
        self._doubles = False
        self._way = -self._way
        self._failures += 2 if self._moved else 1
