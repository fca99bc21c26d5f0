"""Customers whom the vendors know, too: people of the webhooks' simulator, as the shop writes them.

They are the same where the shop is made with the seed of the webhooks' usual feed, and within the
quarter of a day (UTC) in which that begins; the demo tells its own feed's people. Who lives where
the shop does not sell is left out. Each is known by a mailbox of their own, never a firm's: the
shop lets nobody have another's.
"""

from collections.abc import Iterable
from datetime import datetime
from random import Random

from lakehouse_assets.sources.event import begin_of_shift
from lakehouse_assets.sources.storefront.rows import Customer
from lakehouse_assets.sources.storefront.words import LOCALES
from lakehouse_assets.sources.webhooks import spelling
from lakehouse_assets.sources.webhooks.feed import people_of
from lakehouse_assets.sources.webhooks.people import Person

EVERY = 5  # one of so many of the shop's customers is such, as long as there are some
REQUESTS = 1_000  # from the feed's beginning, some minutes: who is heard of by then


def usual_people(seed: int, now: datetime) -> list[Person]:
    return people_of(seed, REQUESTS, begin_of_shift(now))


class Shared:
    """Hands them out, one after the other."""

    def __init__(self, seed: int, people: Iterable[Person]) -> None:
        self._rng = Random(f"shared/{seed}")
        self._left = iter([person for person in people if person.country.code in LOCALES])

    def instead(self, customer: Customer) -> Customer:
        """That row as one of them, or as it is if nobody is left."""
        person = next(self._left, None)
        if person is None:
            return customer
        rng = self._rng
        return customer._replace(
            email=spelling.email(rng, person.email).strip(),
            first_name=spelling.name(rng, person.first_name),
            last_name=spelling.name(rng, person.last_name),
            phone=customer.phone and spelling.phone(rng, person.shared or person.own),
            country=person.country.code,
        )
