"""Who customers and merchants are, and what changes about them: keyed, a null value deletes.

A customer or merchant is told of when the first charge mentions them; some a while later, a few
never.
"""

from abc import abstractmethod
from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar

from lakehouse_assets.sources.event import Event, iso_ms
from lakehouse_assets.sources.payments import edits
from lakehouse_assets.sources.payments.feed import Feed, Made
from lakehouse_assets.sources.payments.pools import CATEGORIES, SEGMENTS
from lakehouse_assets.sources.payments.record import CUSTOMERS, MERCHANTS, Fields, text

TARDY, UNKNOWN = 20, 50  # one of so many is told of late, one of so many never
YEAR_MS = 365 * 86_400_000


class ReferenceFeed(Feed):
    since: ClassVar[str]  # the column that tells since when they are known
    changes: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]]  # columns and what they become

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._met: set[int] = set()
        self._tardy: deque[int] = deque()
        self._repeats["deletion"] = self._deletion

    @abstractmethod
    def first(self, who: int) -> Fields:
        """What is known of the pool's customer or merchant of this number."""

    def meet(self, who: int, at: int) -> Event | None:
        """What is to be told of somebody who is mentioned, if it is the first time."""
        if who in self._met:
            return None
        self._met.add(who)
        if who % UNKNOWN == UNKNOWN - 1:
            return None
        if who % TARDY == TARDY - 1:
            self._tardy.append(who)
            return None
        return self.shape.record(self._join(who, at).fields, "clean")._replace(made_ms=at)

    def begin(self, at: int) -> Fields | None:
        return None

    def path(self) -> tuple[str, ...]:
        return ("changed",)

    def move(self, fields: Fields, step: str, at: int) -> None:
        column, values = self.rng.choice(self.changes)
        fields[column] = self.rng.choice([v for v in values if v != fields[column]])
        fields["updated_at"] = f'"{iso_ms(at)}"'

    def _join(self, who: int, at: int) -> Made:
        long_ago = at - YEAR_MS - self.rng.randrange(4 * YEAR_MS)
        fields = self.first(who) | {"extra": ""}
        fields[self.since] = fields["updated_at"] = f'"{iso_ms(long_ago)}"'
        made = Made(fields, long_ago)
        self._open.append(made)
        self._latest.append(made._replace(fields=fields.copy()))
        return made

    def _next(self, at: int) -> Made | None:
        """Somebody of whom we should have told before, or a change to somebody known."""
        if self._tardy:
            made = self._join(self._tardy.popleft(), at)
            return made._replace(fields=made.fields.copy())
        return self._changed(at)

    def _changed(self, at: int) -> Made | None:
        if not self._open:
            return None
        place = int(self.rng.random() * len(self._open))
        fields = self._open[place].fields
        self.move(fields, "changed", at)
        self._open[place] = Made(fields, at)
        return Made(fields.copy(), at)

    def _late(self, at: int) -> Event | None:
        """A change of some time ago, of which we hear now."""
        made = self.remembered(lambda one: one.clean)
        if made is None:
            return None
        self.move(made.fields, "changed", self.some_time_before(at))
        return self.shape.record(made.fields, "late")

    def _overtake(self, at: int) -> Event | None:
        """A change; at the next clean record, the one before it."""
        if straggler := self._straggler:
            self._straggler = None
            return self.shape.record(straggler, "out_of_order")
        if not self._open:
            return None
        place = int(self.rng.random() * len(self._open))
        fields = self._open[place].fields
        self.move(fields, "changed", at - 1)
        self._straggler = fields.copy()
        self.move(fields, "changed", at)
        self._open[place] = Made(fields, at)
        return self.shape.record(fields, "clean")

    def _deletion(self, at: int) -> Event | None:
        if not self._open:
            return None
        gone = self._open.pop(int(self.rng.random() * len(self._open)))
        return self.shape.record(gone.fields, "deletion")._replace(value=None)


class CustomerFeed(ReferenceFeed):
    shape = CUSTOMERS
    every = 20
    since = "signed_up_at"
    changes = (
        ("segment", tuple(map(text, sorted(set(SEGMENTS))))),
        ("country", ('"US"', '"GB"', '"DE"', '"FR"', '"JP"')),
        ("email", tuple(text(f"moved{n}@example.org") for n in range(50))),
    )
    own_edits: ClassVar[Mapping[str, edits.Edit]] = {
        "null_spelling": edits.nulls("name", "email", "country", "segment"),
        "bad_country": edits.put("country", *edits.NOT_COUNTRIES),
        "missing_key": edits.put("customer_id", "null", '""', '"null"'),
        "wrong_type": edits.wrong_types(("signed_up_at", '"yesterday"'), ("updated_at", "0")),
        "oversized": edits.oversized("name"),
    }
    amendments = (edits.turned("segment", '"vip"'), edits.turned("name", '"Renamed"'))

    def first(self, who: int) -> Fields:
        customer = self.pools.customers[who]
        return {
            "customer_id": customer["customer_id"],
            "name": self.pools.names[who],
            "email": self.pools.emails[who],
            "country": customer["card_country"],
            "segment": text(self.rng.choice(SEGMENTS)),
        }


class MerchantFeed(ReferenceFeed):
    shape = MERCHANTS
    every = 120
    since = "onboarded_at"
    changes = (
        ("category", tuple(map(text, CATEGORIES))),
        ("country", ('"US"', '"GB"', '"DE"', '"IE"')),
        ("name", tuple(text(f"Renamed {n} Ltd") for n in range(50))),
    )
    own_edits: ClassVar[Mapping[str, edits.Edit]] = {
        "null_spelling": edits.nulls("name", "category", "country"),
        "bad_country": edits.put("country", *edits.NOT_COUNTRIES),
        "missing_key": edits.put("merchant_id", "null", '""', '"null"'),
        "wrong_type": edits.wrong_types(("onboarded_at", '"yesterday"'), ("updated_at", "0")),
        "oversized": edits.oversized("name"),
    }
    amendments = (edits.turned("category", '"other"'), edits.turned("name", '"Renamed"'))

    def first(self, who: int) -> Fields:
        merchant = self.pools.merchants[who]
        return {
            "merchant_id": merchant["merchant_id"],
            "name": merchant["merchant_name"],
            "category": text(CATEGORIES[who % len(CATEGORIES)]),
            "country": self.pools.merchant_countries[who],
        }
