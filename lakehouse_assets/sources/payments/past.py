"""What happens to charges after they took the money: refunds and disputes, and what they share."""

from abc import abstractmethod
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments.dirt import Dirt
from lakehouse_assets.sources.payments.feed import Feed, Made
from lakehouse_assets.sources.payments.record import Fields

REMEMBERED = 4_096  # succeeded charges; older ones are neither refunded nor disputed
SHARED = ("provider", "charge_id", "customer_id", "merchant_id", "currency", "amount")


@dataclass
class Past:
    """Charges that took the money: those of late, and those made but not heard of yet."""

    settled: deque[Made] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    coming: deque[Made] = field(default_factory=deque)

    @staticmethod
    def is_settled(made: Made | None) -> bool:
        """A charge, as it should be, that took the money."""
        return bool(made and made.clean and made.fields["event_type"] == '"charge.succeeded"')


class AboutCharges(Feed):
    """A feed whose things each belong to a charge: it has nothing to tell of before the first."""

    def __init__(
        self, seed: int, start: datetime, dirt: Dirt, interval: timedelta, past: Past
    ) -> None:
        super().__init__(seed, start, dirt, interval)
        self.past = past
        self._repeats |= {
            "unknown_charge": self._of_unknown_charge,
            "other_currency": self._in_other_currency,
        }

    @abstractmethod
    def about(self, charge: Fields, at: int) -> Fields:
        """What all events of a new thing about this charge share."""

    def begin(self, at: int) -> Fields | None:
        charge = self.charge()
        return self.about(charge, at) if charge else None

    def charge(self) -> Fields | None:
        """Some charge's fields that are repeated in what is about it."""
        if not self.past.settled:
            return None
        made = self.past.settled[int(self.rng.random() * len(self.past.settled))]
        return shared(made)

    def at_once(self, fields: Fields | None, kind: str, at: int) -> Event | None:
        """A thing in one event."""
        if fields is None:
            return None
        self.move(fields, self.path()[-1], at)
        return self.shape.record(fields, kind)

    def _of_unknown_charge(self, at: int) -> Event | None:
        fields = self.begin(at)
        if fields:
            fields["charge_id"] = f'"ch_{self.number()}"'
        return self.at_once(fields, "unknown_charge", at)

    def _in_other_currency(self, at: int) -> Event | None:
        fields = self.begin(at)
        if fields:
            fields["currency"] = '"SEK"' if fields["currency"] != '"JPY"' else '"USD"'
        return self.at_once(fields, "other_currency", at)


def shared(made: Made) -> Fields:
    return {name: made.fields[name] for name in SHARED}
