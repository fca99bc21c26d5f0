"""staging.stg_shopify_customers: a customer once, gone if they were ever deleted or merged."""

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_shopify_customers import stg_shopify_customers
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, FAR, MINUTE

CLEAN: Row = {
    "_webhook_topic": "customers/update", "id": "5", "email": " Anna@Example.com ",
    "phone": "+49 30 1", "first_name": "Null", "last_name": "", "currency": "eur",
    "state": "Enabled", "default_address": '{"country_code":"de","city":""}', "created_at": AT,
    "updated_at": AT, "arrived_at": AT + 9 * MINUTE,
}  # fmt: skip
GONE: Row = dict.fromkeys(CLEAN) | {"arrived_at": AT + 9 * MINUTE}
DELETED = GONE | {"_webhook_topic": "customers/delete", "id": "5"}
MERGED = GONE | {
    "_webhook_topic": "customers/merge", "status": "completed",
    "customer_kept_id": "gid://shopify/Customer/4",
    "customer_deleted_id": "gid://shopify/Customer/5",
}  # fmt: skip


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_shopify_customers, CLEAN, *given)


def told(row: Row) -> Row:
    return {n: value for n, value in row.items() if value is not None and n != "arrived_at"}


def test_values_are_cleaned_and_a_name_that_spells_nothing_is_a_name(lake: Lake) -> None:
    (row,) = staged(lake, {})
    assert told(row) == {
        "customer_id": "5", "email": "Anna@Example.com", "phone": "+49 30 1", "first_name": "Null",
        "currency": "EUR", "state": "enabled", "country": "DE", "created_at": AT, "updated_at": AT,
        "is_deleted": False,
    }  # fmt: skip


def test_the_newest_version_stands_and_its_first_delivery(lake: Lake) -> None:
    stale = {"updated_at": AT - MINUTE, "state": "disabled", "arrived_at": AT + 20 * MINUTE}
    (row,) = staged(lake, stale, {"arrived_at": AT + 10 * MINUTE}, {})
    assert (row["state"], row["arrived_at"]) == ("enabled", AT + 9 * MINUTE)


def test_a_deletion_is_final_and_keeps_nothing(lake: Lake) -> None:
    later = {"updated_at": AT + 5 * MINUTE}
    for given in ([DELETED, later], [later, DELETED]):
        (row,) = staged(lake, *given)
        assert told(row) == {"customer_id": "5", "is_deleted": True}


def test_a_merge_says_into_whom_and_one_that_failed_says_nothing(lake: Lake) -> None:
    (row,) = staged(lake, {}, MERGED)
    assert told(row) == {"customer_id": "5", "is_deleted": True, "merged_into_id": "4"}
    (row,) = staged(lake, {}, MERGED | {"status": "failed"}, MERGED | {"status": None})
    assert not row["is_deleted"]


def test_nobody_and_never_are_refused(lake: Lake) -> None:
    refused: list[Row] = [
        {"id": " "}, {"updated_at": None}, {"created_at": None}, {"updated_at": FAR},
        {"_error": "wrong type"}, DELETED | {"id": None}, MERGED | {"customer_deleted_id": None},
    ]  # fmt: skip
    assert staged(lake, *refused) == []
