"""The run of one topic's feed: open things that move on, and earlier events that come once more.

A thing is what the topic is about: a charge, a refund, a dispute, a subscription, a customer. Each
of its events has all of its fields. What is particular to a topic is in a file of its own.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from random import Random
from typing import ClassVar, NamedTuple

from lakehouse_assets.sources.dirt import Schedule
from lakehouse_assets.sources.event import CLEAN, Event, iso_ms, scatter, token
from lakehouse_assets.sources.payments.dirt import MIN_LATE, Dirt
from lakehouse_assets.sources.payments.edits import COMMON, SET_ASIDE, Edit, malformed
from lakehouse_assets.sources.payments.pools import pools
from lakehouse_assets.sources.payments.record import Fields, Shape

REMEMBERED = 512  # latest good events, of which one may be repeated
TRIES = 20  # draws for a remembered event that suits; else the kind waits for the next record

_MICROSECOND, _MILLISECOND = timedelta(microseconds=1), timedelta(milliseconds=1)
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Made(NamedTuple):
    """An event, when it was last updated (epoch ms), what it says, and the steps still to come."""

    fields: Fields
    updated: int
    step: str = ""
    left: tuple[str, ...] = ()
    clean: bool = True  # nothing was planted in it


class Feed(ABC):
    """Makes one record per slot; all it remembers is bounded."""

    shape: ClassVar[Shape]
    every: ClassVar[int] = 1  # of so many charges' intervals one is a slot here
    open_limit: ClassVar[int] = 64  # at most so many wait for their next event; then one moves on
    moving: ClassVar[float] = 0.47  # share of the slots in which an open one moves on
    own_edits: ClassVar[Mapping[str, Edit]] = {}
    amendments: ClassVar[tuple[Callable[[Fields], None], ...]]  # each changes what tables show

    def __init__(self, seed: int, start: datetime, dirt: Dirt, interval: timedelta) -> None:
        if start.tzinfo is None or interval < timedelta(0):
            raise ValueError(f"start needs a time zone, interval >= 0; got {start!r}, {interval!r}")
        start, topic = start.astimezone(timezone.utc), self.shape.topic
        self.rng, self.pools, self._dirt = Random(f"{topic}/{seed}"), pools(seed), dirt
        self._schedule = Schedule(f"{topic}/{seed}", dirt.rates(topic))
        self._token, self._serial = token(seed, start, interval, dirt, topic), 0
        self._start = (start - _UNIX_EPOCH) // _MICROSECOND
        self._interval = interval * self.every // _MICROSECOND
        self._edits = {**COMMON, **self.own_edits}
        self._open: list[Made] = []
        self._latest: deque[Made] = deque(maxlen=REMEMBERED)
        self._straggler: Fields | None = None
        self._repeats: dict[str, Callable[[int], Event | None]] = {
            "duplicate": self._duplicate,
            "redelivery": self._redelivery,
            "late": self._late,
            "out_of_order": self._overtake,
            "tie_event": self._tie_event,
            "tie_state": self._tie_state,
            "null_value": self._null_value,
        }
        self.good: Made | None = None  # the newest record, if tables show it

    @abstractmethod
    def begin(self, at: int) -> Fields | None:
        """What all events of a new thing share; None if there is nothing to make one of."""

    @abstractmethod
    def path(self) -> tuple[str, ...]:
        """The steps that a new thing will take, one event each."""

    @abstractmethod
    def move(self, fields: Fields, step: str, at: int) -> None:
        """Make the fields those of the thing's event at this step."""

    def made_at(self, slot: int) -> int:
        """Epoch milliseconds, rounded down so as never to lie after the exact instant."""
        return (self._start + slot * self._interval) // 1000

    def event(self, slot: int) -> Event | None:
        """The slot's record; None where there is nothing to tell of yet."""
        at, kind = self.made_at(slot), self._schedule.at(slot)
        self.good = None
        if kind == CLEAN and self._straggler:
            kind = "out_of_order"
        if kind in self._repeats:
            if repeated := self._repeats[kind](at):
                return repeated._replace(made_ms=at)
            self._schedule.postpone(kind, slot + 1)
            kind = CLEAN
        made = self._next(at)
        if made and kind in self._edits and not self._edited(kind, made.fields):
            self._schedule.postpone(kind, slot + 1)
            kind = CLEAN
        return self._planted(kind, made)._replace(made_ms=at) if made else None

    def settled(self, created: int, updated: int) -> Made | None:
        """A thing in one event: its last one."""
        fields = self.begin(created)
        return self._step(fields, self.path()[-1:], updated) if fields else None

    def number(self) -> str:
        self._serial += 1
        return self._token + scatter(self._serial)

    def remembered(self, suits: Callable[[Made], bool] = lambda _: True) -> Made | None:
        """Some good event of late that suits, to be changed."""
        for _ in range(TRIES if self._latest else 0):
            made = self.rng.choice(self._latest)
            if suits(made):
                return made._replace(fields=made.fields.copy())
        return None

    def _edited(self, kind: str, fields: Fields) -> bool:
        turn = self._schedule.turn(kind)
        return self._edits[kind](fields, self.rng, turn, self._dirt) is not False

    def _planted(self, kind: str, made: Made) -> Event:
        if kind not in SET_ASIDE:
            self.good = made._replace(clean=kind == CLEAN)
            self._latest.append(self.good)
        event = self.shape.record(made.fields, kind)
        if kind == "malformed" and event.value:
            turn = self._schedule.turn(kind)
            return event._replace(value=malformed(event.value, self.rng, turn))
        return event

    def _next(self, at: int) -> Made | None:
        """The next event in good order: a new thing, or the next step of an open one."""
        full = len(self._open) >= self.open_limit
        if self._open and (full or self.rng.random() < self.moving):
            thing = self._take_open(at)
            if thing is not None:
                return self._step(thing.fields, thing.left, at)
        fields = self.begin(at)
        if fields is None:
            return None
        path = self.path()
        return self._step(fields, path[-1:] if full else path, at)

    def _take_open(self, at: int) -> Made | None:
        """An open thing that can move on, which takes a later instant than its last."""
        place = int(self.rng.random() * len(self._open))
        if self._open[place].updated >= at:
            return None
        self._open[place], self._open[-1] = self._open[-1], self._open[place]
        return self._open.pop()

    def _step(self, fields: Fields, steps: tuple[str, ...], at: int) -> Made:
        self.move(fields, steps[0], at)
        made = Made(fields, at, steps[0], steps[1:])
        if not made.left:
            return made
        self._open.append(made)
        return made._replace(fields=fields.copy())

    def _duplicate(self, at: int) -> Event | None:
        made = self.remembered()
        return self.shape.record(made.fields, "duplicate") if made else None

    def _redelivery(self, at: int) -> Event | None:
        """The same event with a newer `updated_at`, every second time with other content too."""
        made = self.remembered(lambda one: one.updated < at)
        if made is None:
            return None
        made.fields["updated_at"] = f'"{iso_ms(at)}"'
        if self.rng.random() < 0.5:
            self.rng.choice(self.amendments)(made.fields)
        return self.shape.record(made.fields, "redelivery")

    def _tie_event(self, at: int) -> Event | None:
        """The same event with the same `updated_at` and other content: only content can decide."""
        made = self.remembered()
        if made is None:
            return None
        self.rng.choice(self.amendments)(made.fields)
        return self.shape.record(made.fields, "tie_event")

    def _tie_state(self, at: int) -> Event | None:
        """One more event of the same thing with the same `updated_at`."""
        made = self.remembered(lambda one: one.clean)
        if made is None:
            return None
        self.move(made.fields, self.path()[-1], made.updated)
        return self.shape.record(made.fields, "tie_state")

    def _null_value(self, at: int) -> Event | None:
        made = self.remembered()
        return self.shape.record(made.fields, "null_value")._replace(value=None) if made else None

    def some_time_before(self, at: int) -> int:
        """Minutes to days before, as likely one as the other."""
        least, most = MIN_LATE / _MILLISECOND, self._dirt.late_up_to / _MILLISECOND
        return at - int(least * (most / least) ** self.rng.random())

    def _late(self, at: int) -> Event | None:
        """A thing made some time ago, of which we hear now."""
        updated = self.some_time_before(at)
        self.good = self.settled(updated - self.rng.randrange(60_000), updated)
        return self.shape.record(self.good.fields, "late") if self.good else None

    def _overtake(self, at: int) -> Event | None:
        """A thing's event after next; at the next clean record, the one that belongs before it."""
        if straggler := self._straggler:
            self._straggler = None
            return self.shape.record(straggler, "out_of_order")
        for thing in self._open:
            if thing.updated + 1 < at and self.between(thing):
                break
        else:
            return None
        self._open.remove(thing)
        self._straggler = thing.fields.copy()
        self.move(self._straggler, self.between(thing), (thing.updated + at) // 2)
        left = thing.left[1:] or thing.left
        return self.shape.record(self._step(thing.fields, left, at).fields, CLEAN)

    def between(self, thing: Made) -> str:
        """The step that an open thing's straggler tells of; none: nothing can overtake it."""
        return thing.left[0] if len(thing.left) > 1 else ""
