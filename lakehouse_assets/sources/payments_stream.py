"""The run of a charge feed: open charges that move on, and earlier events that come once more."""

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from random import Random

from lakehouse_assets.sources.event import CLEAN, Event, iso_ms, scatter, token
from lakehouse_assets.sources.payments_dirt import (
    AMENDMENTS,
    EDITS,
    MIN_LATE,
    STAYS_GOOD,
    Dirt,
    Schedule,
    malformed,
    oversized,
)
from lakehouse_assets.sources.payments_pools import FAILURES, pools
from lakehouse_assets.sources.payments_record import Fields, record, text

OPEN_CHARGES = 64  # at most so many wait for their next event; then one of them moves on
REMEMBERED = 512  # latest good events, of which one may be repeated
TRIES = 20  # draws for a remembered event that suits; else the kind waits for the next record

_PROVIDERS = ('"Stripe"', '"Braintree"', '"Adyen"')
_RISK_LEVELS = ('"low"', '"normal"', '"elevated"', '"high"', '"highest"')  # one for 21 points each
_FAILURES = tuple({"failure_code": text(code), "failure_message": text(message)}
                  for code, message in FAILURES)  # fmt: skip
_NO_FAILURE = {"failure_code": "null", "failure_message": "null"}
_MICROSECOND, _MILLISECOND = timedelta(microseconds=1), timedelta(milliseconds=1)
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Made:
    """An event and when it was last updated (epoch ms); of an open charge, `left` are to come."""

    __slots__ = ("fields", "left", "updated")

    def __init__(self, fields: Fields, updated: int, left: int = 0) -> None:
        self.fields, self.updated, self.left = fields, updated, left


class Stream:
    """Makes one record per slot; all it remembers is bounded."""

    def __init__(self, seed: int, start: datetime, dirt: Dirt, interval: timedelta) -> None:
        if start.tzinfo is None or interval < timedelta(0):
            raise ValueError(f"start needs a time zone, interval >= 0; got {start!r}, {interval!r}")
        start = start.astimezone(timezone.utc)
        self._rng, self._pools, self._dirt = Random(seed), pools(seed), dirt
        self._schedule = Schedule(seed, dirt.rates())
        self._token, self._serial = token(seed, start, interval, dirt), 0
        self._start = (start - _UNIX_EPOCH) // _MICROSECOND
        self._interval = interval // _MICROSECOND
        self._open: list[Made] = []
        self._latest: deque[Made] = deque(maxlen=REMEMBERED)
        self._overtaken: Fields | None = None
        self._repeats: dict[str, Callable[[int], Event | None]] = {
            "duplicate": self._duplicate,
            "redelivery": self._redelivery,
            "late": self._late,
            "out_of_order": self._overtake,
            "tie_event": self._tie_event,
            "tie_charge": self._tie_charge,
            "null_value": self._null_value,
        }

    def made_at(self, slot: int) -> int:
        """Epoch milliseconds, rounded down so as never to lie after the exact instant."""
        return (self._start + slot * self._interval) // 1000

    def event(self, slot: int) -> Event:
        at, kind = self.made_at(slot), self._schedule.at(slot)
        if kind == CLEAN and self._overtaken:
            kind = "out_of_order"
        if kind in self._repeats:
            if repeated := self._repeats[kind](at):
                return repeated
            self._schedule.postpone(kind, slot + 1)
            kind = CLEAN
        return self._planted(kind, at)

    def settled_charge(self, created: int, updated: int) -> Fields:
        """A charge in one event, succeeded or failed at once."""
        fields = self._charge(created)
        self._move(fields, updated, last=True)
        return fields

    def _planted(self, kind: str, at: int) -> Event:
        fields = self._next(at)
        if kind in EDITS:
            EDITS[kind](fields, self._rng, self._schedule.turn(kind))
        elif kind == "oversized":
            oversized(fields, self._rng, self._dirt.oversized_bytes)
        if kind == CLEAN or kind in STAYS_GOOD:
            self._latest.append(Made(fields, at))
        event = record(fields, kind)
        if kind == "malformed" and event.value:
            turn = self._schedule.turn(kind)
            return event._replace(value=malformed(event.value, self._rng, turn))
        return event

    def _next(self, at: int) -> Fields:
        """The next event in good order: a new charge, or the next step of an open one."""
        full = len(self._open) >= OPEN_CHARGES
        if self._open and (full or self._rng.random() < 0.47):
            charge = self._take_open(at)
            if charge is not None:
                return self._step(charge, at, charge.left - 1)
        left = int(self._rng.random() * 3)
        if left == 0 or full:
            return self.settled_charge(at, at)
        return self._step(Made(self._charge(at), at), at, left)

    def _take_open(self, at: int) -> Made | None:
        """An open charge that can move on, which takes a later instant than its last."""
        place = int(self._rng.random() * len(self._open))
        if self._open[place].updated >= at:
            return None
        self._open[place], self._open[-1] = self._open[-1], self._open[place]
        return self._open.pop()

    def _step(self, charge: Made, at: int, left: int) -> Fields:
        self._move(charge.fields, at, last=left == 0)
        if left:
            self._open.append(Made(charge.fields, at, left))
            return charge.fields.copy()
        return charge.fields

    def _charge(self, created: int) -> Fields:
        """What all events of a charge share."""
        draw, pool = self._rng.random, self._pools
        who = int(draw() * len(pool.customers))
        fields = pool.customers[who].copy()
        fields.update(pool.merchants[int(draw() * len(pool.merchants))])
        cents = 100 + int(draw() ** 3 * 200_000)
        score = int(draw() * draw() * 101)
        number = self._number()
        subscription = f'"sub_{number}"' if score % 3 == 0 else "null"
        fields["charge_id"] = f'"ch_{number}"'
        fields["provider"] = _PROVIDERS[int(draw() * 3)]
        fields["amount"] = f"{cents // 100}.{cents % 100:02}"
        fields["description"] = pool.descriptions[int(draw() * len(pool.descriptions))]
        fields["metadata"] = (
            f'{{"order_id":"ord_{number}","user_email":{pool.emails[who]},'
            f'"subscription_id":{subscription}}}'
        )
        fields["risk_score"] = str(score)
        fields["risk_level"] = _RISK_LEVELS[score // 21]
        fields["3ds_authenticated"] = '"true"' if cents % 3 else '"false"'
        fields["created_at"] = f'"{iso_ms(created)}"'
        fields["extra"] = ""
        return fields

    def _move(self, fields: Fields, at: int, *, last: bool) -> None:
        """Make the fields those of the charge's next event."""
        fresh = "status" not in fields
        fields["event_id"] = f'"evt_{self._number()}"'
        fields["updated_at"] = f'"{iso_ms(at)}"'
        fields.update(_NO_FAILURE)
        if not last:
            fields["status"] = '"pending"'
            fields["event_type"] = '"charge.pending"' if fresh else '"charge.updated"'
        elif self._rng.random() < 0.85:
            fields["status"], fields["event_type"] = '"succeeded"', '"charge.succeeded"'
        else:
            fields["status"], fields["event_type"] = '"failed"', '"charge.failed"'
            fields.update(_FAILURES[int(self._rng.random() * len(_FAILURES))])

    def _number(self) -> str:
        self._serial += 1
        return self._token + scatter(self._serial)

    def _remembered(self, before: int | None = None) -> Made | None:
        """Some good event of late; `before`: one that was last updated before that instant."""
        for _ in range(TRIES if self._latest else 0):
            made = self._rng.choice(self._latest)
            if before is None or made.updated < before:
                return Made(made.fields.copy(), made.updated)
        return None

    def _duplicate(self, at: int) -> Event | None:
        made = self._remembered()
        return record(made.fields, "duplicate") if made else None

    def _redelivery(self, at: int) -> Event | None:
        """The same event with a newer `updated_at`, every second time with other content too."""
        made = self._remembered(before=at)
        if made is None:
            return None
        made.fields["updated_at"] = f'"{iso_ms(at)}"'
        if self._rng.random() < 0.5:
            self._rng.choice(AMENDMENTS)(made.fields)
        return record(made.fields, "redelivery")

    def _tie_event(self, at: int) -> Event | None:
        """The same event with the same `updated_at` and other content: only content can decide."""
        made = self._remembered()
        if made is None:
            return None
        self._rng.choice(AMENDMENTS)(made.fields)
        return record(made.fields, "tie_event")

    def _tie_charge(self, at: int) -> Event | None:
        """One more event of the same charge with the same `updated_at`: a fourth at times."""
        made = self._remembered()
        if made is None:
            return None
        self._move(made.fields, made.updated, last=True)
        return record(made.fields, "tie_charge")

    def _null_value(self, at: int) -> Event | None:
        made = self._remembered()
        return record(made.fields, "null_value")._replace(value=None) if made else None

    def _late(self, at: int) -> Event:
        """A charge made minutes to days ago, as likely one as the other, of which we hear now."""
        least, most = MIN_LATE / _MILLISECOND, self._dirt.late_up_to / _MILLISECOND
        updated = at - int(least * (most / least) ** self._rng.random())
        fields = self.settled_charge(updated - self._rng.randrange(60_000), updated)
        return record(fields, "late")

    def _overtake(self, at: int) -> Event | None:
        """The last event of a charge; at the next clean record, the one that belongs before it."""
        if straggler := self._overtaken:
            self._overtaken = None
            return record(straggler, "out_of_order")
        for charge in self._open:
            if charge.updated + 1 < at and charge.fields["event_type"] == '"charge.pending"':
                break
        else:
            return None
        self._open.remove(charge)
        self._overtaken = charge.fields.copy()
        self._move(self._overtaken, (charge.updated + at) // 2, last=False)
        self._move(charge.fields, at, last=True)
        return record(charge.fields, CLEAN)
