"""The run of the webhooks: a request per slot, clean or with the dirt that is due."""

from collections import deque
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta, timezone
from itertools import count as counting
from itertools import islice

from lakehouse_assets.sources.dirt import Schedule
from lakehouse_assets.sources.event import CLEAN
from lakehouse_assets.sources.webhooks.dirt import MIN_LATE, Dirt
from lakehouse_assets.sources.webhooks.edits import EDITS, again, edited
from lakehouse_assets.sources.webhooks.people import TRAPS, Person, Traps
from lakehouse_assets.sources.webhooks.request import VENDORS, Request
from lakehouse_assets.sources.webhooks.world import World

INTERVAL = timedelta(milliseconds=500)
EVERY = {"shopify": 3, "stripe": 6, "hubspot": 10}  # of so many requests, at most, one is theirs
REMEMBERED = 512  # latest requests, of which one may be delivered again
DIRT = Dirt()

_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND, _MILLISECOND = timedelta(microseconds=1), timedelta(milliseconds=1)


def requests(
    seed: int,
    count: int | None,
    start: datetime,
    dirt: Dirt = DIRT,
    interval: timedelta = INTERVAL,
    only: Collection[str] = VENDORS,
    sent_from: datetime | None = None,
    traps: Traps = TRAPS,
) -> Iterator[Request]:
    """`count` requests of these vendors, one of all vendors' each `interval`.

    The same arguments give the same requests whichever vendors are asked for, so that feeds that
    run apart tell of one world. `sent_from`: requests made before it are left out, but those that
    tell who somebody or what a company is. Nothing is said to have happened after the instant of
    its request.
    """
    feed = _Feed(seed, start, dirt, interval, traps)
    since_ms = int(sent_from.timestamp() * 1000) if sent_from else 0
    made = (feed.request(slot) for slot in counting())
    wanted = (r for r in made if r.vendor in only and (r.made_ms >= since_ms or _tells_who(r)))
    return islice(wanted, count)


def people_of(seed: int, count: int, start: datetime, dirt: Dirt = DIRT) -> list[Person]:
    """Of whom the first `count` such requests tell, but for those who were deleted again."""
    feed = _Feed(seed, start, dirt, INTERVAL, TRAPS)
    for slot in range(count):
        feed.request(slot)
    return feed.people()


def _tells_who(request: Request) -> bool:
    return request.known is not None or request.topic.startswith("company.")


class _Feed:
    def __init__(
        self, seed: int, start: datetime, dirt: Dirt, interval: timedelta, traps: Traps
    ) -> None:
        if start.tzinfo is None or interval < timedelta(0):
            raise ValueError(f"start needs a time zone, interval >= 0; got {start!r}, {interval!r}")
        start = start.astimezone(timezone.utc)
        self._world = World(seed, traps, start, dirt, interval)
        self._dirt, self._rng = dirt, self._world.rng
        self._schedule = Schedule(f"webhooks/{seed}", dirt.rates())
        self._start = (start - _UNIX_EPOCH) // _MICROSECOND
        self._interval = interval // _MICROSECOND
        self._latest: deque[Request] = deque(maxlen=REMEMBERED)
        self._timing: dict[str, Callable[[int], Request | None]] = {
            "redelivery": self._redelivery,
            "late": self._late,
            "out_of_order": self._world.overtaken,
            "stale_order": self._world.overtaken_order,
        }

    def request(self, slot: int) -> Request:
        at = (self._start + slot * self._interval) // 1000
        made = self._dirty(slot, at) or self._world.act(at)
        if made.kind != "redelivery":
            self._latest.append(made)
        return made._replace(made_ms=at)

    def people(self) -> list[Person]:
        return self._world.known()

    def _dirty(self, slot: int, at: int) -> Request | None:
        """The request with the dirt that is due now; what does not suit waits for the next slot."""
        if (kind := self._schedule.at(slot)) == CLEAN:
            return None
        clean = self._world.act(at) if kind in EDITS else None
        if clean is None:
            made = self._timing[kind](at)
        elif clean.kind == CLEAN:
            made = edited(kind, clean, self._schedule.turn(kind))
        else:
            made = None  # a request has one kind of dirt at most
        if made is None:
            self._schedule.postpone(kind, slot + 1)
        return made or clean

    def _redelivery(self, at: int) -> Request | None:
        if not self._latest:
            return None
        return again(self._latest[int(self._rng.random() * len(self._latest))])

    def _late(self, at: int) -> Request | None:
        """An order, a charge or a contact's change of some time ago, of which we hear now."""
        least, most = MIN_LATE / _MILLISECOND, self._dirt.late_up_to / _MILLISECOND
        then = at - int(least * (most / least) ** self._rng.random())
        draw = self._rng.random()
        if draw < 0.4:
            made = self._world.order(then)
        elif draw < 0.8:
            made = self._world.charge(then)
        else:
            made = self._world.update(then, "hubspot")
        return made and made._replace(kind="late")
