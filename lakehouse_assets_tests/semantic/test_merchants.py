"""semantic.merchants: what was known of a merchant, from when until when."""

from datetime import datetime, timedelta, timezone

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.merchants import Merchants, merchants
from lakehouse_assets.staging.stg_payment_merchants import StgPaymentMerchants
from lakehouse_assets_tests.lake.tables import Row, result
from lakehouse_assets_tests.support import broken_rules, rows

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
DAY = timedelta(days=1)
SHOP: Row = {
    "merchant_id": "mer_1", "merchant_name": "Shop", "category": "toys", "country": "DE",
    "onboarded_at": AT, "is_deleted": False, "is_dirty": False, "arrived_at": AT,
}  # fmt: skip
CLOSED: Row = {"merchant_id": "mer_1", "is_deleted": True, "is_dirty": False, "arrived_at": AT}


def test_each_change_late_or_not_and_each_deletion_begins_a_version(lake: Lake) -> None:
    told = [
        CLOSED | {"changed_at": AT + 9 * DAY},
        SHOP | {"changed_at": AT + DAY, "category": None, "is_dirty": True},
        SHOP | {"changed_at": AT},
        SHOP | {"changed_at": AT, "merchant_id": "mer_2"},
    ]
    found = result(merchants, merchants=rows(lake.spark, StgPaymentMerchants, *told))
    columns = ("merchant_id", "valid_from_at", "valid_to_at", "category", "onboarded_at",
               "is_deleted", "is_current")  # fmt: skip
    assert [tuple(row[c] for c in columns) for row in found] == [
        ("mer_1", AT, AT + DAY, "toys", AT, False, False),
        ("mer_1", AT + DAY, AT + 9 * DAY, None, AT, False, False),
        ("mer_1", AT + 9 * DAY, None, None, None, True, True),
        ("mer_2", AT, None, "toys", AT, False, True),
    ]


def test_something_known_of_a_deleted_merchant_is_counted(lake: Lake) -> None:
    good = SHOP | {"valid_from_at": AT, "is_current": True}
    assert broken_rules(lake, Merchants, good, good | {"is_deleted": True}) == [
        "", "nothing_of_deleted",
    ]  # fmt: skip
