"""marts.customer_360: all that is known of a person, in one row."""

from decimal import Decimal

from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.marts.customer_360 import Customer360, customer_360
from lakehouse_assets.semantic.blocking_index import blocking_index
from lakehouse_assets.semantic.entity_index import entity_index
from lakehouse_assets.semantic.matching import CAPS
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.semantic.orders import AT, DAY
from lakehouse_assets_tests.semantic.people import STRIPE, known, tell
from lakehouse_assets_tests.support import rows, stored


def record(source: str, number: str, day: int = 0, **more: object) -> Row:
    return {"entity_id": "ada", "source": source, "source_id": number,
            "updated_at": AT + day * DAY, **more}  # fmt: skip


def contact(number: str, day: int = 0, **more: object) -> Row:
    return {"contact_id": number, "updated_at": AT + day * DAY, "is_deleted": False, **more}


def paid(email: str, day: int = 0, **more: object) -> Row:
    return {"charged_on": (AT + day * DAY).date(), "email_normalized": email, "charges": 2,
            "succeeded": 1, "failed": 1, "max_risk_score": 40, "last_charge_at": AT + day * DAY,
            **more}  # fmt: skip


METRICS: Row = {
    "entity_id": "ada", "currency": "USD", "orders": 2, "gross_amount": Decimal(50),
    "refunded_amount": Decimal(5), "net_amount": Decimal(45), "payments_succeeded": 1,
    "payments_failed": 0, "last_order_at": AT + DAY, "churn_band": "low",
}  # fmt: skip


def made(lake: Lake, *people: Row, contacts: tuple[Row, ...] = (), metrics: tuple[Row, ...] = (),
         payers: tuple[Row, ...] = (), shop: tuple[Row, ...] = ()) -> list[Row]:  # fmt: skip
    """Blocks are those of the people, and of others who have the same keys."""
    given = (people, contacts, metrics, payers, shop)
    frames = zip([*customer_360.parents.items()][:-1], given, strict=True)
    told = {name: rows(lake.spark, table.contract, *these) for (name, table), these in frames}
    return result(customer_360, **told, blocks=blocking_index.transform(told["entities"]))


def test_all_that_systems_know_of_a_person_is_one_row(lake: Lake) -> None:
    (row,) = made(
        lake,
        record("shopify", "2", 1, full_name="Ada L", email_normalized="a@x.org"),
        record("shopify", "1", email_normalized="b@x.org", phone_normalized="+12125550100"),
        record("stripe", "cus_1", 3, full_name=None, email_normalized="a@x.org"),
        record("hubspot", "7", 2, full_name="Ada Low"),
        contacts=(contact("7", company_name="Analytical", lifecycle_stage="opportunity"),
                  contact("8", company_name="Another's")),
        metrics=(METRICS,), payers=(paid("a@x.org"), paid("a@x.org", 9), paid("c@x.org")),
    )  # fmt: skip
    assert (row["full_name"], row["emails"], row["phones"]) == (
        "Ada Low", ["a@x.org", "b@x.org"], ["+12125550100"]
    )  # fmt: skip
    assert (row["shopify_ids"], row["stripe_ids"], row["hubspot_ids"]) == (
        ["1", "2"], ["cus_1"], ["7"]
    )  # fmt: skip
    assert (row["companies"], row["lifecycle_stage"]) == (["Analytical"], "opportunity")
    assert (row["orders"], row["net_amount"], row["churn_band"]) == (2, 45, "low")
    assert (row["provider_charges"], row["provider_failed"], row["max_risk_score"]) == (4, 2, 40)
    assert row["last_activity_at"] == row["last_charge_at"] == AT + 9 * DAY


def test_of_whom_little_is_known_little_is_told(lake: Lake) -> None:
    buyer, nobody = made(
        lake, record("stripe", "cus_1") | {"entity_id": "z"}, record("shopify", "1"),
        metrics=(METRICS,), payers=(paid("a@x.org"),),
    )  # fmt: skip
    assert (buyer["lifecycle_stage"], nobody["lifecycle_stage"]) == ("customer", "lead")
    assert (nobody["full_name"], nobody["emails"], nobody["companies"]) == (None, [], [])
    assert (nobody["orders"], nobody["gross_amount"], nobody["provider_charges"]) == (0, 0, 0)
    assert (nobody["storefront_orders"], nobody["storefront_net_amount"]) == (0, 0)
    assert (nobody["storefront_ids"], nobody["storefront_segment"]) == ([], None)
    assert (nobody["last_activity_at"], nobody["last_charge_at"]) == (AT, None)


def test_what_the_web_shop_knows_stands_beside_and_makes_a_customer(lake: Lake) -> None:
    bought: Row = {
        "entity_id": "ada", "segment": "vip", "currency": "EUR", "orders": 3,
        "other_currency_orders": 1, "first_order_at": AT, "last_order_at": AT + 5 * DAY,
        "net_amount": Decimal(70),
    }  # fmt: skip
    (row,) = made(lake, record("storefront", "17", 1, full_name="Ada L"), shop=(bought,))
    assert (row["storefront_ids"], row["shopify_ids"]) == (["17"], [])
    assert (row["storefront_segment"], row["storefront_currency"]) == ("vip", "EUR")
    assert (row["storefront_orders"], row["storefront_net_amount"]) == (3, 70)
    assert (row["orders"], row["net_amount"], row["currency"]) == (0, 0, None)
    assert (row["lifecycle_stage"], row["last_activity_at"]) == ("customer", AT + 5 * DAY)
    (both,) = made(lake, record("storefront", "17"), metrics=(METRICS,), shop=(bought,))
    assert (both["orders"], both["storefront_orders"], both["net_amount"]) == (2, 3, 45)


def test_the_mailbox_of_a_role_is_nobodys_in_the_payments_system(lake: Lake) -> None:
    (row,) = made(
        lake, record("shopify", "1", email_normalized="info@x.org"), payers=(paid("info@x.org"),)
    )
    assert (row["emails"], row["provider_charges"]) == (["info@x.org"], 0)


def test_a_mailbox_on_more_records_than_a_person_has_is_nobodys_in_the_payments_system(
    lake: Lake
) -> None:
    def theirs(count: int) -> list[int]:
        people = [record("shopify", str(n), email_normalized="a@x.org") | {"entity_id": f"e{n}"}
                  for n in range(count)]  # fmt: skip
        return [r["provider_charges"] for r in made(lake, *people, payers=(paid("a@x.org"),))]

    most = CAPS["email"]
    assert theirs(most) == [2] * most
    assert theirs(most + 1) == [0] * (most + 1)


def test_a_mailbox_that_becomes_too_many_peoples_takes_its_payments_from_all(lake: Lake) -> None:
    """And gives them back: as a rebuild would have it."""
    for parent in customer_360.parents.values():
        lake.catalog.ensure(parent.contract)
    add(lake, customer_360.parents["payers"], paid("a@x.org"), stated=False)
    tell(lake, STRIPE, *[known(f"c{n}", "a@x.org") for n in range(CAPS["email"])])
    for is_gone, wanted in ((True, 2), (False, 0), (True, 2)):
        tell(lake, STRIPE, known("one more", "a@x.org", is_deleted=is_gone))
        for table in (entity_index, blocking_index, customer_360):
            advance(lake, table)
        found = charges_of_all()
        assert {*found.values()} == {wanted}
        rebuild(lake, customer_360)
        assert charges_of_all() == found


def charges_of_all() -> dict[str, int]:
    return {row["entity_id"]: row["provider_charges"] for row in stored(customer_360.name)}


def test_who_they_are_and_how_they_are_reached_is_private() -> None:
    assert Customer360.pii() == ("full_name", "emails", "phones")
