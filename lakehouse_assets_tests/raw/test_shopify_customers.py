"""raw.shopify_customers: customers, deletions and merges, each record one row."""

import json

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.shopify_customers import ShopifyCustomers, shopify_customers
from lakehouse_assets.sources.webhooks import FIRST_DAY, Dirt, requests
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.raw.webhooks import CAME, has_columns_for_all, read
from lakehouse_assets_tests.support import broken_rules

MERGE = {
    "admin_graphql_api_customer_kept_id": "gid://shopify/Customer/4",
    "admin_graphql_api_customer_deleted_id": "gid://shopify/Customer/5",
    "admin_graphql_api_job_id": None, "status": "completed", "errors": [],
}  # fmt: skip


def test_shopifys_customer_is_known_whole(lake: Lake) -> None:
    made = requests(7, 400, FIRST_DAY, Dirt.only())
    for kind in ("customers/create", "customers/delete"):
        said = json.loads(next(r.body for r in made if r.topic == kind))
        has_columns_for_all(lake, shopify_customers, said)
        assert set(said) <= {*ShopifyCustomers.fields(), *(ShopifyCustomers.also or ())}


def test_a_merge_names_both(lake: Lake) -> None:
    (row,) = read(lake, shopify_customers, MERGE)
    kept, gone = row["customer_kept_id"], row["customer_deleted_id"]
    assert (row["id"], kept[-2:], gone[-2:], row["status"]) == (None, "/4", "/5", "completed")


def test_what_is_no_instant_is_an_error(lake: Lake) -> None:
    (row,) = read(lake, shopify_customers, {"id": 5, "updated_at": "yesterday"})
    assert (row["_error"], row["id"]) == ("wrong type", None)


def test_its_rules_measure_the_dirt(lake: Lake) -> None:
    dirty: dict[str, Row] = {
        "parses": {"_error": "malformed"},
        "came_through_the_door": {"id": "5"},
        "somebody_is_named": CAME,
    }
    good = [CAME | {"id": "5"}, CAME | {"customer_deleted_id": "gid"}]
    assert broken_rules(lake, ShopifyCustomers, *good, *dirty.values()) == ["", "", *dirty]
