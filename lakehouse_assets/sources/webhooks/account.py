"""A person's record in one system as it stands now, and how it changes."""

from dataclasses import dataclass
from random import Random

from lakehouse_assets.sources.webhooks import spelling
from lakehouse_assets.sources.webhooks.countries import Number
from lakehouse_assets.sources.webhooks.people import TRAPS, Person, Traps, spelled
from lakehouse_assets.sources.webhooks.request import Known

CHANGES = ("phone", "email", "first_name", "email", "phone", "last_name")


@dataclass(eq=False)  # it is itself, whatever else is alike
class Account:
    source: str
    id: str
    person: Person
    email: str | None
    phone: str | None
    first_name: str
    last_name: str
    created_ms: int
    updated_ms: int
    place: tuple[str, str, str, str]
    orders: int = 0
    spent: int = 0  # cents
    company: str = ""  # the id of the company that HubSpot has it with
    changed: str = ""  # what the last update was about

    @property
    def known(self) -> Known:
        return Known(self.source, self.id, self.person.person_id)

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}"


def opened(
    rng: Random, source: str, number: str, person: Person, at: int, traps: Traps = TRAPS
) -> Account:
    said, places = spelled(rng, person, traps), person.country.places
    return Account(
        source, number, person, said.email, said.phone, said.first_name, said.last_name, at, at,
        places[int(rng.random() * len(places))],
    )  # fmt: skip


def change(rng: Random, account: Account, at: int, moved_to: Number) -> str | None:
    """Something about it becomes different: mended, spelled anew, or the mobile is a new one.
    What it was before is returned.

    An e-mail that was misspelt or a firm's becomes the person's own, so that groups join; a phone
    that was shared or is given up leaves its group.
    """
    what, person = CHANGES[int(rng.random() * len(CHANGES))], account.person
    before: str | None = account.name if what.endswith("name") else getattr(account, what)
    if what == "email":
        account.email = spelling.email(rng, person.email)
    elif what == "phone":
        own = person.own if person.shared or account.phone is None else moved_to
        account.phone = spelling.phone(rng, own)
    elif what == "first_name":
        account.first_name = spelling.name(rng, person.first_name)
    else:
        account.last_name = spelling.name(rng, person.last_name)
    account.updated_ms, account.changed = at, what
    return before
