"""staging.stg_payment_merchants: what was known of a merchant, from each change on."""

from datetime import timedelta

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_payment_merchants import stg_payment_merchants
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, FAR, MINUTE

CLEAN: Row = {
    "merchant_id": "mer_1", "name": "Shop Ltd", "category": "travel", "country": "IE",
    "updated_at": AT, "arrived_at": AT, "kafka_key": "mer_1", "is_deletion": False,
}  # fmt: skip


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_payment_merchants, CLEAN, *given)


def test_values_are_cleaned(lake: Lake) -> None:
    found = staged(lake, {}, {"merchant_id": "mer_2", "category": "TRAVEL", "country": "ie"})
    columns = ("merchant_id", "merchant_name", "category", "country", "is_dirty")
    assert [tuple(r[c] for c in columns) for r in found] == [
        ("mer_1", "Shop Ltd", "travel", "IE", False),
        ("mer_2", "Shop Ltd", "travel", None, True),
    ]


def test_a_merchant_has_a_row_for_each_change_deletions_too(lake: Lake) -> None:
    late = {"updated_at": AT - timedelta(days=2), "category": "fashion"}
    gone: Row = dict.fromkeys(CLEAN) | {
        "kafka_key": "mer_1", "is_deletion": True, "arrived_at": AT + MINUTE,
    }  # fmt: skip
    found = staged(lake, {}, {}, gone, late)
    assert [(r["changed_at"], r["category"], r["is_deleted"]) for r in found] == [
        (AT - timedelta(days=2), "fashion", False), (AT, "travel", False),
        (AT + MINUTE, None, True),
    ]  # fmt: skip


def test_nobody_and_never_are_refused(lake: Lake) -> None:
    refused: list[Row] = [
        {"merchant_id": ""}, {"updated_at": None}, {"updated_at": FAR}, {"_error": "malformed"},
    ]  # fmt: skip
    assert staged(lake, *refused) == []
