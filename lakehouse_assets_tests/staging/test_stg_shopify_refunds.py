"""staging.stg_shopify_refunds: a refund once, with what was really paid back."""

import json
from decimal import Decimal
from typing import Any

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.staging.stg_shopify_refunds import stg_shopify_refunds
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.staging import events
from lakehouse_assets_tests.staging.events import AT, MINUTE

CLEAN: Row = {
    "_vendor": "shopify", "_webhook_topic": "refunds/create", "id": "1", "order_id": "17",
    "created_at": "2024-03-01T05:00:00-05:00", "arrived_at": AT + MINUTE,
}  # fmt: skip
PAID = {"kind": "refund", "status": "success", "amount": "10.00", "currency": "eur"}


def refund(*transactions: Any, **more: Any) -> Row:
    return {"transactions": json.dumps(transactions)} | more


def staged(lake: Lake, *given: Row) -> list[Row]:
    return events.staged(lake, stg_shopify_refunds, CLEAN, *given)


def test_only_what_succeeded_was_paid_back(lake: Lake) -> None:
    failed, sale = PAID | {"status": "failure"}, PAID | {"kind": "sale"}
    found = staged(
        lake, refund(PAID, failed, sale, PAID | {"amount": "2.505"}), refund(id="2"),
        refund(failed, None, id="3"),
    )  # fmt: skip
    assert [(r["refund_id"], r["amount"], r["currency"]) for r in found] == [
        ("1", Decimal("12.51"), "EUR"), ("2", Decimal("0.00"), None), ("3", Decimal("0.00"), None),
    ]  # fmt: skip
    assert (found[0]["order_id"], found[0]["created_at"]) == ("17", AT)


def test_a_redelivery_changes_nothing(lake: Lake) -> None:
    (row,) = staged(lake, refund(PAID, arrived_at=AT + 2 * MINUTE), refund(PAID))
    assert row["arrived_at"] == AT + MINUTE


def test_what_tells_no_refund_is_refused_and_other_events_are_none(lake: Lake) -> None:
    refused: list[Row] = [
        refund(PAID, id=None), refund(PAID, order_id=""), refund(PAID | {"amount": "1,0"}),
        refund(PAID | {"currency": "EURO"}), refund(PAID | {"amount": "-1"}),
        {"transactions": "none"}, {"transactions": None}, refund(PAID, 7),
        refund(PAID, created_at="2024-03-01"),
        refund(PAID, created_at="2099-01-01T00:00:00Z"), refund(PAID, _error="malformed"),
    ]  # fmt: skip
    others: list[Row] = [
        refund(PAID, _webhook_topic="products/update"), refund(PAID, _vendor="stripe"),
        refund(PAID, _webhook_topic=None, _vendor=None),
    ]  # fmt: skip
    assert staged(lake, *refused, *others) == []
