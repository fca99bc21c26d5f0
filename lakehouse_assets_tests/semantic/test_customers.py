"""semantic.customers: what was known of a customer, from when until when."""

from datetime import datetime, timedelta, timezone

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.customers import Customers, customers
from lakehouse_assets.staging.stg_payment_customers import StgPaymentCustomers
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.support import broken_across, broken_rules, rows

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
DAY = timedelta(days=1)
ADA: Row = {
    "customer_id": "cus_1", "customer_name": "Ada", "segment": "consumer", "country": "GB",
    "signed_up_at": AT, "is_deleted": False, "is_dirty": False, "arrived_at": AT,
}  # fmt: skip
NOBODY: Row = {
    "customer_id": "cus_1", "is_deleted": True, "is_dirty": False, "arrived_at": AT + DAY,
}  # fmt: skip


def told(day: int, who: Row = ADA, **more: object) -> Row:
    """Something about Ada that changed on this day of the history."""
    return who | {"changed_at": AT + day * DAY} | more


def spans(lake: Lake, *changes: Row) -> list[tuple[object, ...]]:
    found = result(customers, customers=rows(lake.spark, StgPaymentCustomers, *changes))
    ends = [row["valid_to_at"] and (row["valid_to_at"] - AT).days for row in found]
    return [
        (row["customer_id"], (row["valid_from_at"] - AT).days, end, row["segment"],
         row["is_current"], row["is_deleted"])
        for row, end in zip(found, ends, strict=True)
    ]  # fmt: skip


def test_a_change_ends_the_version_before_it_and_a_late_one_is_put_between(lake: Lake) -> None:
    late = told(3, segment="vip", arrived_at=AT + 90 * DAY)
    other = told(1, customer_id="cus_2", segment=None)
    assert spans(lake, late, told(5, segment="enterprise"), other, told(0)) == [
        ("cus_1", 0, 3, "consumer", False, False),
        ("cus_1", 3, 5, "vip", False, False),
        ("cus_1", 5, None, "enterprise", True, False),
        ("cus_2", 1, None, None, True, False),
    ]


def test_versions_that_say_the_same_stay(lake: Lake) -> None:
    assert [span[1:3] for span in spans(lake, told(0), told(2))] == [(0, 2), (2, None)]


def test_a_deletion_is_a_version_without_attributes_and_current_until_told_of_again(
    lake: Lake,
) -> None:
    changed, gone = told(1, segment="vip"), told(4, NOBODY)
    assert spans(lake, told(0), gone, changed) == [
        ("cus_1", 0, 1, "consumer", False, False),
        ("cus_1", 1, 4, "vip", False, False),
        ("cus_1", 4, None, None, True, True),
    ]
    assert spans(lake, told(0), gone, told(6)) == [
        ("cus_1", 0, 4, "consumer", False, False),
        ("cus_1", 4, 6, None, False, True),
        ("cus_1", 6, None, "consumer", True, False),
    ]


def test_what_contradicts_itself_is_counted(lake: Lake) -> None:
    good = ADA | {"valid_from_at": AT, "valid_to_at": AT + DAY, "is_current": False}
    odd: dict[str, Row] = {
        "ends_after_it_begins": good | {"valid_to_at": AT},
        "current_is_open": good | {"is_current": True},
        "nothing_of_deleted": good | {"is_deleted": True},
    }
    assert broken_rules(lake, Customers, good, *odd.values()) == ["", *odd]


def test_names_and_addresses_are_private() -> None:
    assert Customers.pii() == StgPaymentCustomers.pii()


def test_a_gap_an_overlap_and_a_second_current_version_show(lake: Lake) -> None:
    good = told(0) | {"valid_from_at": AT, "is_current": False}
    del good["changed_at"]
    add(
        lake, customers,
        good | {"valid_to_at": AT + 2 * DAY},  # the next one begins a day before that
        good | {"valid_from_at": AT + DAY, "is_current": True},
        good | {"valid_from_at": AT + 3 * DAY, "is_current": True},
    )  # fmt: skip
    found = broken_across(lake, customers)
    assert [row["current_rows"] for row in found["one_current_row"]] == [2]
    assert len(found["no_gap_no_overlap"]) == 2
