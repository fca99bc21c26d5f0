"""Who exists, one person after the other, and how each system knows them.

A person has a mailbox and a mobile of their own; no two people's are alike. Where a record does not
tell people apart is a trap: families and couples share a phone, employees the firm's mailbox and
switchboard, and a number that one gave up may be another's later.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import NamedTuple

from lakehouse_assets.sources.event import token
from lakehouse_assets.sources.webhooks import spelling
from lakehouse_assets.sources.webhooks.countries import SHARES, Country, Number, number

SOURCES = ("shopify", "stripe", "hubspot")
SYSTEMS = (  # in which systems a person is, and how many of a hundred
    (("shopify",), 18), (("stripe",), 12), (("hubspot",), 15), (("shopify", "stripe"), 18),
    (("shopify", "hubspot"), 9), (("stripe", "hubspot"), 8), (SOURCES, 20),
)  # fmt: skip
FAMILY, COUPLE, STAFF = (4, 6), (2, 2), (8, 15)  # people, from and to
DOMAINS = ("example.com", "example.org", "example.net", "mail.example", "post.example")
GIVEN_UP = 200  # people back, whose number is somebody else's now
SWITCHBOARD, MAILBOX = 0.6, 0.3  # share of an employee's records with the firm's phone, or e-mail
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Traps:
    """What makes people hard to tell apart, or records of one hard to find; all may be 0."""

    family: float = 0.01  # share of people who share a phone with three to five others
    couple: float = 0.001  # with one other: exact rules cannot see it
    staff: float = 0.01  # whose records have their firm's phone or mailbox
    recycled: float = 0.001  # whose number was another's
    typo: float = 0.005  # share of records with a misspelt e-mail, by which nobody is found
    no_email: float = 0.005
    no_phone: float = 0.08


TRAPS = Traps()


class Company(NamedTuple):
    serial: int
    name: str
    domain: str
    phone: Number


class Person(NamedTuple):
    """`shared`: the phone that the person's records may have instead of their own."""

    person_id: str
    first_name: str
    last_name: str
    country: Country
    email: str
    own: Number
    shared: Number | None
    company: Company | None
    systems: tuple[str, ...]


class Spelled(NamedTuple):
    """What one system knows of a person, as written there."""

    email: str | None
    phone: str | None
    first_name: str
    last_name: str


class Identity(NamedTuple):
    """A record of a person, and who it is in truth."""

    source: str
    source_id: str
    email: str | None
    phone: str | None
    country: str
    first_name: str
    last_name: str
    person_id: str


def identities(seed: int, count: int, traps: Traps = TRAPS) -> Iterator[Identity]:
    """`count` records of people, without any events."""
    rng, made = Random(f"identities/{seed}"), 0
    name = token("identities", seed)
    for person in people(seed, traps):
        for source in person.systems:
            if made == count:
                return
            made += 1
            said = spelled(rng, person, traps)
            yield Identity(
                source, f"{name}{made}", said.email, said.phone, person.country.code,
                said.first_name, said.last_name, person.person_id,
            )  # fmt: skip


def people(seed: int, traps: Traps = TRAPS) -> Iterator[Person]:
    """Without end; those of one household come one after the other."""
    crowd = Crowd(seed, traps)
    while True:
        yield from crowd.household()


def spelled(rng: Random, person: Person, traps: Traps = TRAPS) -> Spelled:
    """One record's way of writing; at most one of e-mail and phone is missing or of no use."""
    email: str | None = person.email
    phone = person.shared if person.shared else person.own
    if person.company and person.shared:
        draw = rng.random()
        if draw < MAILBOX:
            email = f"{spelling.ROLES[int(draw * 16)]}@{person.company.domain}"
        phone = person.shared if draw > 1 - SWITCHBOARD else person.own
    said: str | None = spelling.phone(rng, phone)
    flaw = rng.random()
    if email is person.email and phone is person.own:
        if flaw < traps.typo:
            return _named(rng, person, spelling.typo(rng, person.email), said)
        if flaw < traps.typo + traps.no_email:
            return _named(rng, person, None, said)
        if flaw < traps.typo + traps.no_email + traps.no_phone:
            said = None
    assert email is not None
    return _named(rng, person, spelling.email(rng, email), said)


def _named(rng: Random, person: Person, email: str | None, phone: str | None) -> Spelled:
    first, last = person.first_name, person.last_name
    return Spelled(email, phone, spelling.name(rng, first), spelling.name(rng, last))


class Crowd:
    """Makes households; serial numbers keep everybody's mailbox and mobile apart."""

    def __init__(self, seed: int, traps: Traps, *run: object) -> None:
        self._rng, self._traps, self._names = Random(f"people/{seed}"), traps, names(seed)
        self._token, self._serial = token("people", seed, traps, *run), 0
        self._first = int(self._token, 16)  # other runs, other numbers and mailboxes
        self._countries = tuple(c for c, share in SHARES.items() for _ in range(share))
        self._systems = tuple(s for s, share in SYSTEMS for _ in range(share))
        self._given_up: deque[Number] = deque(maxlen=GIVEN_UP)

    def household(self) -> Iterator[Person]:
        traps, draw = self._traps, self._rng.random()
        country = self._countries[int(self._rng.random() * len(self._countries))]
        for share, sizes in ((traps.family, FAMILY), (traps.couple, COUPLE), (traps.staff, STAFF)):
            begun = share * 2 / sum(sizes)  # so many households, for that share of the people
            if draw < begun:
                size = self._rng.randint(*sizes)
                company = self.company(country) if sizes is STAFF else None
                shared = company.phone if company else self.number(country)
                last = "" if company else self._pick(self._names[country.locale].last)
                for _ in range(size):
                    yield self._person(country, shared, company, last)
                return
            draw -= begun
        yield self._person(country)

    def company(self, country: Country) -> Company:
        phone = self.number(country)
        name = self._pick(self._names[country.locale].companies)
        domain = f"{spelling.slug(name)[:24]}-{self._code()}.example"
        return Company(self._serial, name, domain, phone)

    def _person(
        self, country: Country, shared: Number | None = None, company: Company | None = None,
        last: str = "",
    ) -> Person:  # fmt: skip
        rng, known = self._rng, self._names[country.locale]
        first, last = self._pick(known.first), last or self._pick(known.last)
        own = self.number(country)
        is_recycled = self._given_up and rng.random() < self._traps.recycled
        if is_recycled and self._given_up[0].country is country:
            own = self._given_up[0]
        self._given_up.append(own)
        domain = company.domain if company else DOMAINS[int(rng.random() * len(DOMAINS))]
        email = f"{spelling.slug(first)}.{spelling.slug(last)}.{self._code()}@{domain}"
        return Person(
            f"{self._token}{self._serial}", first, last, country, email, own, shared, company,
            self._systems[int(rng.random() * len(self._systems))],
        )  # fmt: skip

    def number(self, country: Country) -> Number:
        """One that nobody has."""
        self._serial += 1
        return number(country, self._first + self._serial)

    def _code(self) -> str:
        left, code = self._first + self._serial, ""
        while left:
            left, digit = divmod(left, 36)
            code = _LETTERS[digit] + code
        return code

    def _pick(self, words: tuple[str, ...]) -> str:
        return words[int(self._rng.random() * len(words))]


class Names(NamedTuple):
    first: tuple[str, ...]
    last: tuple[str, ...]
    companies: tuple[str, ...]


@lru_cache(maxsize=4)
def names(seed: int) -> dict[str, Names]:
    """By locale. Made once: a call of Faker for each person would take longer than all the rest."""
    from faker import Faker  # half a second of imports that only a running generator should pay

    found = {}
    for country in SHARES:
        fake = Faker(country.locale)
        fake.seed_instance(f"{country.locale}/{seed}")
        found[country.locale] = Names(
            tuple(fake.first_name() for _ in range(300)),
            tuple(fake.last_name() for _ in range(400)),
            tuple(fake.company() for _ in range(100)),
        )
    return found
