"""Customers of the shop whom the vendors know, too."""

from datetime import datetime, timedelta, timezone

import psycopg

from lakehouse_assets.sources.event import begin_of_shift
from lakehouse_assets.sources.storefront.seeding import Sizes, seed_shop
from lakehouse_assets.sources.storefront.shared import EVERY, usual_people
from lakehouse_assets.sources.webhooks import people_of, requests
from lakehouse_assets.sources.webhooks.truth.people import e164, mailbox
from lakehouse_assets_tests.sources.storefront.shops import NOW, assert_sound, empty_out

SIZES = Sizes(customers=60, products=20, orders=40)


def customers(shop: psycopg.Connection) -> list[tuple[str, str | None, str]]:
    return shop.execute("select email, phone, country from customers order by id").fetchall()


def said(seed: int, start: datetime) -> str:
    """All that the usual feed tells, in lower case."""
    return " ".join(request.body.decode("utf-8", "replace").lower()
                    for request in requests(seed, 1_000, start))  # fmt: skip


def test_some_are_people_of_the_webhooks_of_that_seed_and_quarter_of_a_day(
    shop: psycopg.Connection,
) -> None:
    seed_shop(shop, SIZES, 7, NOW)
    assert_sound(shop)
    people = {person.email: person for person in usual_people(7, NOW)}
    told = said(7, begin_of_shift(NOW))
    both = [row for row in customers(shop) if mailbox(row[0]) in people]
    assert len(both) == SIZES.customers / EVERY
    assert all(str(mailbox(row[0])).partition("@")[0] in told for row in both)
    for email, phone, country in both:
        person = people[str(mailbox(email))]
        assert country == person.country.code
        assert phone is None or e164(phone, country) == (person.shared or person.own).e164()
    assert begin_of_shift(NOW) == datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
    later = people_of(7, 1_000, begin_of_shift(NOW + timedelta(hours=6)))
    assert not {person.email for person in later} & people.keys()


def test_the_others_and_all_else_are_as_without_them(shop: psycopg.Connection) -> None:
    found = []
    for people in ((), None):
        empty_out(shop)
        seed_shop(shop, SIZES, 7, NOW, people=people)
        orders = shop.execute("select * from orders order by id").fetchall()
        streets = shop.execute("select id, customer_id, kind from addresses order by id").fetchall()
        found.append((customers(shop), orders, streets))
    alone, shared = found
    assert alone[1:] == shared[1:]
    assert [row for n, row in enumerate(alone[0]) if n % EVERY] == [
        row for n, row in enumerate(shared[0]) if n % EVERY
    ]


def test_what_is_added_has_customers_of_its_own(shop: psycopg.Connection) -> None:
    seed_shop(shop, SIZES, 7, NOW)
    seed_shop(shop, SIZES, 7, NOW, is_added=True)
    mailboxes = [mailbox(row[0]) for row in customers(shop)]
    assert len(set(mailboxes)) == 2 * SIZES.customers


def test_nobody_shares_a_number_with_a_stranger(shop: psycopg.Connection) -> None:
    seed_shop(shop, Sizes(customers=1_000, products=20, orders=10), 7, NOW, people=())
    numbers = [e164(phone, country) for _, phone, country in customers(shop) if phone]
    told = [number for number in numbers if number]
    assert len(set(told)) == len(told) > 700
