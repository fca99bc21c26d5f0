"""staging.stg_payment_customers: what was known of a customer, from each change on."""

from datetime import timedelta

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_payment_customers import stg_payment_customers
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, FAR, MINUTE

CLEAN: Row = {
    "customer_id": "cus_1", "name": "Ada", "email": "a@b", "country": "GB", "segment": "vip",
    "updated_at": AT, "arrived_at": AT, "kafka_key": "cus_1", "is_deletion": False,
}  # fmt: skip
DELETION: Row = dict.fromkeys(CLEAN) | {
    "kafka_key": "cus_1", "is_deletion": True, "arrived_at": AT + 9 * MINUTE,
}  # fmt: skip


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_payment_customers, CLEAN, *given)


def test_values_are_cleaned(lake: Lake) -> None:
    found = staged(lake, {}, {"customer_id": "cus_2", "name": "null", "country": "342",
                              "segment": "VIP"})  # fmt: skip
    columns = ("customer_id", "customer_name", "email", "country", "segment", "is_dirty")
    assert [tuple(r[c] for c in columns) for r in found] == [
        ("cus_1", "Ada", "a@b", "GB", "vip", False),
        ("cus_2", None, "a@b", None, "vip", True),
    ]


def test_a_customer_has_a_row_for_each_change_in_any_order_of_arrival(lake: Lake) -> None:
    late = {"updated_at": AT - timedelta(days=2), "segment": "consumer"}
    found = staged(lake, {}, {}, late, {"updated_at": AT + MINUTE, "segment": "enterprise"})
    assert [(r["changed_at"], r["segment"]) for r in found] == [
        (AT - timedelta(days=2), "consumer"), (AT, "vip"), (AT + MINUTE, "enterprise"),
    ]  # fmt: skip


def test_of_two_records_for_one_moment_the_greater_content_stands(lake: Lake) -> None:
    both: list[Row] = [{"segment": "consumer"}, {"segment": "vip"}]
    for given in (both, both[::-1]):
        assert [r["segment"] for r in staged(lake, *given)] == ["vip"]


def test_a_deletion_is_a_change_of_its_key_at_its_arrival(lake: Lake) -> None:
    found = staged(lake, {}, DELETION)
    columns = ("customer_id", "changed_at", "customer_name", "is_deleted", "is_dirty")
    assert [tuple(r[c] for c in columns) for r in found] == [
        ("cus_1", AT, "Ada", False, False),
        ("cus_1", AT + 9 * MINUTE, None, True, False),
    ]


def test_nobody_and_never_are_refused(lake: Lake) -> None:
    refused: list[Row] = [
        {"customer_id": "null"}, {"updated_at": None}, {"updated_at": FAR}, {"_error": "malformed"},
        DELETION | {"kafka_key": None},
    ]  # fmt: skip
    good: list[Row] = [
        {"name": None, "email": None, "signed_up_at": None}, {"updated_at": AT + 5 * MINUTE},
    ]  # fmt: skip
    assert len(staged(lake, *refused, *good)) == len(good)
