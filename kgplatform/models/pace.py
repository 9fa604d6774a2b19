"""How many requests a model's server is sent at once, and how long one of them may be silent.

    pace = Pace(None, patience=120)
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

from kgplatform.settings import MOST_CALLS
from kgplatform.work.stopping import Stop

_FIRST = 2
_WORTH = 0.25
"""Of what twice as many requests could bring, the part that they must: 1.25 times as much."""
_SURE = 8
"""Replies that a trial takes at least, once the first doubling is over."""
_REST = 8
"""How many times the replies of a trial come between two of them."""
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
    """A fair semaphore, first come, first served, of a ``fixed`` size, or of one that follows the server's speed (None).

    ``patience``: seconds for which a request may be silent. Several threads may use it at once.
    """

    def __init__(
        self, fixed: int | None = None, patience: float = 120.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._trial = None if fixed else _Trial(_FIRST)
        self._limit = fixed or _FIRST
        self._patience = patience
        self._clock = clock
        self._asked = False
        self._taken = self._number = self._halved = 0
        self._heard = 0.0
        self._waiting: deque[Future[None]] = deque()
        self._under_way: set[Turn] = set()
        self._lock = threading.Lock()

    @property
    def limit(self) -> int:
        """How many requests may be in progress."""
        return self._trial.limit if self._trial else self._limit

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
            now, is_first, is_first_of_all = self._clock(), turn.begun is None, not self._heard
            turn.last = self._heard = now
            turn.begun = now if turn.begun is None else turn.begun
            if self._trial and is_first_of_all:  # until then the server may have loaded the model
                self._trial.restart(now)
            # Nothing waits at the server, and more waits here: what comes of more need not be waited for.
            has_more = is_first and self._waiting and len(self._under_way) >= self.limit
            if has_more and self._trial and all(each.begun is not None for each in self._under_way):
                self._trial.double()
                self._admit()

    def over(self, turn: Turn, place: Future[None] | None = None) -> None:
        """The request has ended, or nobody waits in its ``place`` any more."""
        with self._lock:
            if place in self._waiting:
                return self._waiting.remove(place)
            self._taken -= 1
            self._under_way.discard(turn)
            for other in self._under_way:
                other.overtaken += other.number < turn.number
            if turn.work is not None:
                self._heard = self._clock()
                if self._trial:
                    self._trial.replied(turn.work, turn.begun or turn.sent, self._heard)
            self._admit()

    def left(self, turn: Turn) -> float:
        """The seconds for which ``turn`` may still be silent.

        Before its first token it may wait at the server for those before it: what the server says to them counts for
        it too, and time to read the prompt comes on top.
        """
        with self._lock:
            since, patience = turn.last, self._patience
            if turn.begun is None:
                patience *= 1 + turn.prompt / _READING
                since = max(since, self._heard if turn.overtaken < _OVERTAKEN else 0)
            return since + patience - self._clock()

    def failed(self, turn: Turn) -> None:
        """The server did not answer, or is busy: half as many from now on, once for all that were sent before."""
        with self._lock:
            if self._trial and turn.number > self._halved:
                self._halved = self._number
                self._trial.halve()
                self._admit()

    def asks(self) -> bool:
        """Whether somebody should now ask the server for its slots; true once, when the first request has to wait."""
        with self._lock:
            is_due = self._trial is not None and not self._asked and self._taken >= self.limit
            self._asked = self._asked or is_due
            return is_due

    def told(self, slots: object) -> None:
        """The server has so many slots, which are used from now on; what is no number is not heard."""
        with self._lock:
            if isinstance(slots, int) and slots > 0:
                self._trial, self._limit = None, slots
                self._admit()

    def _admit(self) -> None:
        while self._waiting and self._taken < self.limit:
            self._taken += 1
            self._waiting.popleft().set_result(None)
        if self._trial:
            self._trial.taken(self._taken, self._clock())


class _Trial:
    """Climbs to the number of requests in progress from which more bring little: ``limit``.

    What one brings is measured over as many replies as are in progress, while as many are as may be. Then another is
    tried, first twice as many, and kept if it is better; at the end there is a rest.
    """

    def __init__(self, limit: int) -> None:
        self._doubles = True
        self._go(limit, anew=True)

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
        self._work += work * part
        self._replies += part
        if self._replies > self._wanted - 0.5:
            self._judge(self._work / (now - self._since))

    def double(self) -> None:
        """Go on without a measurement, while it still doubles: the server answers all that it has."""
        if self._doubles:
            self._go(min(MOST_CALLS, 2 * self.limit), anew=True)

    def halve(self) -> None:
        """The server cannot do so many."""
        self._doubles = False
        self._go(max(1, self.limit // 2), _REST, anew=True)

    def _go(self, limit: int, times: int = 1, *, anew: bool = False) -> None:
        self.limit = limit
        self._wanted = limit if self._doubles else times * max(_SURE, limit)
        self._since: float | None = None
        self._work = self._replies = 0.0
        if anew:
            self._best: tuple[int, float] | None = None
            self._way, self._moved, self._failures = 1, False, 0

    def _judge(self, speed: float) -> None:
        """``speed``, in tokens a second, is what ``limit`` brings: keep it or leave it, and try the next."""
        if self._best is None or self._is_better(speed, *self._best):
            self._moved = self._best is not None
            self._best = self.limit, speed
        else:
            self._turn_round()
        best = self._best[0]
        while self._failures < 2:
            step = max(1, best // 4) if not self._doubles else 3 * best if self._moved else best
            if (following := min(MOST_CALLS, max(1, best + step * self._way))) != best:
                return self._go(following)
            self._turn_round()
        return self._go(best, _REST, anew=True)

    def _is_better(self, speed: float, limit: int, before: float) -> bool:
        """Whether ``self.limit`` at this ``speed`` is better than ``limit``; the larger must be worth it."""
        if self.limit > limit:
            return speed > before * (1 + _WORTH * (self.limit / limit - 1))
        return speed * (1 + _WORTH * (limit / self.limit - 1)) > before

    def _turn_round(self) -> None:
        """This way leads no further; where it led somewhere, the other leads back."""
        self._doubles = False
        self._way = -self._way
        self._failures += 2 if self._moved else 1
