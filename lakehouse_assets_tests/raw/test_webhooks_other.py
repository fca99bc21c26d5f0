"""raw.webhooks_other: whatever a vendor sends besides, whole."""

import json

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.looks.standing import looks_of
from lakehouse_assets.raw.shopify_orders import shopify_orders
from lakehouse_assets.raw.webhooks_other import WebhooksOther, webhooks_other
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.raw.webhooks import CAME, read
from lakehouse_assets_tests.support import broken_rules


def test_anything_is_text_and_the_record_is_kept_whole(lake: Lake) -> None:
    payout = {"id": "evt_1", "type": "payout.paid", "created": 7, "data": {"object": {"id": "po"}}}
    odd = {"id": {"no": 1}, "created": ["soon"], "created_at": 7, "transactions": "none"}
    rows = read(lake, webhooks_other, payout, odd | {"title": "Lamp"}, {}, vendor="stripe")
    assert [(row["_error"], row["_vendor"]) for row in rows] == [(None, "stripe")] * 3
    assert (rows[0]["created"], json.loads(rows[0]["data"])) == ("7", payout["data"])
    assert (rows[1]["id"], rows[1]["created"]) == ('{"no":1}', '["soon"]')
    assert json.loads(rows[1]["_payload"])["title"] == "Lamp" and rows[0]["_payload"] is None


def test_no_field_is_unknown_where_all_may_be_there() -> None:
    assert "has_no_unknown_fields" not in [look.name for look in looks_of(webhooks_other)]
    assert "has_no_unknown_fields" in [look.name for look in looks_of(shopify_orders)]


def test_its_rules_measure_the_dirt(lake: Lake) -> None:
    dirty: dict[str, Row] = {
        "parses": {"_error": "malformed"},
        "came_through_the_door": CAME | {"_webhook_topic": None},
    }
    assert broken_rules(lake, WebhooksOther, CAME, *dirty.values()) == ["", *dirty]
