"""New rows, drawn from one seeded generator of random numbers; the instant is the caller's."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from lakehouse_assets.sources.storefront.rows import (
    Address,
    Category,
    Customer,
    Order,
    OrderItem,
    Payment,
    Product,
    Shipment,
)
from lakehouse_assets.sources.storefront.words import CATALOGUE, MATERIALS, TAGS, slug, words

CURRENCY = "EUR"
MAX_LINES = 5
MAX_QUANTITY = 4
DOMAINS = ("post.example", "mail.example", "home.example")
SEGMENTS = ("new", "regular", "regular", "loyal", "vip")
METHODS = ("card", "card", "card", "paypal", "paypal", "invoice", "transfer")
CARRIERS = ("DHL", "DPD", "GLS", "UPS", "Poczta Polska", "La Poste")
NOTES = ("Please ring twice.", "Leave it with the neighbours.", "It's a gift: no invoice, please!")
CENT = Decimal("0.01")


OWN_DIGITS = 7  # at a phone number's end: no two people's are alike, but by chance


class Sold(NamedTuple):
    """A product as an order needs it."""

    id: int
    price: Decimal


class Placed(NamedTuple):
    order: Order
    lines: list[OrderItem]


class Maker:
    def __init__(self, seed: object) -> None:
        self.rng = Random(f"storefront/{seed}")
        self.words = words(7)  # the same people's names whatever happens to them

    def customer(self, id: int | None, at: datetime) -> Customer:
        rng = self.rng
        country = rng.choice(self.words.countries)
        spoken = self.words.spoken[country]
        first, last = rng.choice(spoken.first), rng.choice(spoken.last)
        likes = {"newsletter": rng.choice(("daily", "weekly", None)), "sizes": [rng.randint(1, 5)]}
        return Customer(
            id, number := self.uuid(), self.email(first, last), first, last,
            _own(rng.choice(spoken.phones), number.int) if rng.random() < 0.8 else None,
            date(1940, 1, 1) + timedelta(rng.randrange(24_000)) if rng.random() < 0.7 else None,
            country, rng.choice(SEGMENTS), rng.random() < 0.4,
            Jsonb(likes) if rng.random() < 0.6 else None, at, at,
        )  # fmt: skip

    def email(self, first: str, last: str) -> str:
        """One that nobody has."""
        name = ".".join(filter(None, (slug(first), slug(last), f"{self.rng.getrandbits(56):x}")))
        return f"{name}@{self.rng.choice(DOMAINS)}"

    def addresses(self, customer: int, country: str, at: datetime) -> list[Address]:
        """One to ship to, the first, and sometimes another for the bill."""
        kinds = ("shipping", "billing") if self.rng.random() < 0.2 else ("shipping",)
        return [
            Address(None, customer, kind, *self.place(country), country, at, at) for kind in kinds
        ]

    def place(self, country: str) -> tuple[str, str, str | None, str]:
        """Street, city, region and postal code."""
        rng, spoken = self.rng, self.words.spoken[country]
        street, city, code = map(rng.choice, (spoken.streets, spoken.cities, spoken.postal_codes))
        return street, city, rng.choice(spoken.cities) if rng.random() < 0.1 else None, code

    def categories(self, at: datetime) -> list[tuple[Category, list[Category]]]:
        """Departments, each with its shelves; what is whose parent is left open."""
        found = []
        for position, (name, shelves) in enumerate(CATALOGUE.items(), 1):
            department = Category(None, None, slug(name), name, position, at, at)
            found.append((department, [
                Category(None, None, slug(f"{name} {shelf}"), shelf, place, at, at)
                for place, shelf in enumerate(shelves, 1)
            ]))  # fmt: skip
        return found

    def product(
        self, id: int | None, shelf: tuple[int, str, str], at: datetime, is_active: bool
    ) -> Product:
        """`shelf`: the category, and the names of the department and the shelf."""
        rng, (category, department, name) = self.rng, shelf
        noun = rng.choice(CATALOGUE[department][name])
        material, colour = rng.choice(MATERIALS), rng.choice(self.words.colours)
        known = {"material": material, "colour": colour, "care": {"washable": rng.random() < 0.5}}
        return Product(
            id, category, f"{material[:2]}{noun[:2]}-{rng.getrandbits(52):013x}".upper(),
            f"{colour} {material} {noun}", self.words.description(rng), self.price(), CURRENCY,
            rng.sample(TAGS, rng.choice((0, 0, 1, 2, 3))),
            Jsonb(known), rng.randint(20, 9_000) if rng.random() < 0.9 else None, is_active,
            at.date() if rng.random() < 0.8 else None, at, at,
        )  # fmt: skip

    def price(self) -> Decimal:
        return Decimal(self.rng.randint(99, 19_999)) * CENT

    def order(
        self, id: int, customer: int, address: int, products: Sequence[Sold], at: datetime
    ) -> Placed:
        rng = self.rng
        lines = [
            OrderItem(id, line, sold.id, rng.randint(1, MAX_QUANTITY), sold.price, at, at)
            for line, sold in enumerate(products, 1)
        ]
        worth = sum((line.quantity * line.unit_price for line in lines), Decimal())
        discount = self.discount(worth)
        note = rng.choice(NOTES) if rng.random() < 0.1 else None
        order = Order(
            id, self.uuid(), customer, address, "pending", discount, worth - discount, CURRENCY,
            note, at, at,
        )  # fmt: skip
        return Placed(order, lines)

    def discount(self, worth: Decimal) -> Decimal:
        """A tenth, for some."""
        return (worth / 10).quantize(CENT) if self.rng.random() < 0.15 else Decimal("0.00")

    def payment(self, id: int | None, order: int, amount: Decimal, at: datetime) -> Payment:
        """As it succeeds at once."""
        rng, method = self.rng, self.rng.choice(METHODS)
        details = {"last4": f"{rng.randrange(10_000):04}"} if method == "card" else None
        return Payment(
            id, order, self.uuid(), method, "captured", amount, CURRENCY,
            Jsonb(details) if details else None, at, at, at,
        )  # fmt: skip

    def shipment(self, id: int | None, order: int, at: datetime) -> Shipment:
        rng, number = self.rng, f"{self.rng.getrandbits(60):018}"
        return Shipment(
            id, order, rng.choice(CARRIERS), number if rng.random() < 0.9 else None,
            rng.choice((1, 1, 1, 2)),
            (at + timedelta(rng.randint(1, 6))).date() if rng.random() < 0.9 else None,
            at, None, at, at,
        )  # fmt: skip

    def uuid(self) -> UUID:
        return UUID(int=self.rng.getrandbits(128), version=4)


def _own(phone: str, number: int) -> str:
    """Written like it, with other digits at its end."""
    digits = iter(str(number)[-OWN_DIGITS:][::-1])
    return "".join(next(digits, one) if one.isdigit() else one for one in phone[::-1])[::-1]
