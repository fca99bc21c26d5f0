"""Which events the door has let in lately, so that a re-delivery is answered and not sent again.

An event is remembered once Kafka has acknowledged it, never before. One that is on its way is known
by the same future to everybody who delivers it meanwhile: they are answered alike, by what becomes
of the one record. Both are bounded; what is forgotten is sent again, and raw keeps every delivery.
"""

import time
from asyncio import Future
from collections import OrderedDict
from collections.abc import Callable
from functools import partial

MOST = 100_000  # events
SECONDS = 24 * 3600

Identity = tuple[str, ...]


class Recent:
    def __init__(
        self,
        most: int = MOST,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._until: OrderedDict[Identity, float] = OrderedDict()  # the oldest first
        self._under_way: dict[Identity, Future[None]] = {}

    def __len__(self) -> int:
        return len(self._until)

    def knows(self, identity: Identity) -> bool:
        """Has it been acknowledged within the window?"""
        until = self._until.get(identity)
        return until is not None and until > self._clock()

    def under_way(self, identity: Identity) -> "Future[None] | None":
        return self._under_way.get(identity)

    def begin(self, identity: Identity, sent: "Future[None]") -> None:
        """Remember it when `sent` is done, forget it if that fails; whoever still waits for it."""
        self._under_way[identity] = sent
        sent.add_done_callback(partial(self._end, identity))

    def _end(self, identity: Identity, sent: "Future[None]") -> None:
        del self._under_way[identity]
        if sent.cancelled() or sent.exception():
            return
        now = self._clock()
        self._until[identity] = now + self._seconds
        self._until.move_to_end(identity)
        while len(self._until) > self._most or next(iter(self._until.values())) <= now:
            self._until.popitem(last=False)
