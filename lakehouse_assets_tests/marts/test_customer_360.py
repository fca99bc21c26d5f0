"""marts.customer_360: all that is known of a person, in one row."""

from decimal import Decimal

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.marts.customer_360 import Customer360, customer_360
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.semantic.orders import AT, DAY
from lakehouse_assets_tests.support import rows


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
         payers: tuple[Row, ...] = ()) -> list[Row]:  # fmt: skip
    frames = zip(customer_360.parents.items(), (people, contacts, metrics, payers), strict=True)
    return result(customer_360, **{
        name: rows(lake.spark, table.contract, *these) for (name, table), these in frames
    })  # fmt: skip


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
    assert (nobody["last_activity_at"], nobody["last_charge_at"]) == (AT, None)


def test_the_mailbox_of_a_role_is_nobodys_in_the_payments_system(lake: Lake) -> None:
    (row,) = made(
        lake, record("shopify", "1", email_normalized="info@x.org"), payers=(paid("info@x.org"),)
    )
    assert (row["emails"], row["provider_charges"]) == (["info@x.org"], 0)


def test_who_they_are_and_how_they_are_reached_is_private() -> None:
    assert Customer360.pii() == ("full_name", "emails", "phones")
