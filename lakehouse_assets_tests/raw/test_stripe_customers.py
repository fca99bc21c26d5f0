"""raw.stripe_customers: every event one row, its object as text."""

import json

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.raw.stripe_customers import StripeCustomers, stripe_customers
from lakehouse_assets.sources.webhooks import FIRST_DAY, Dirt, requests
from lakehouse_assets_tests.lake.tables import Row
from lakehouse_assets_tests.raw.webhooks import CAME, has_columns_for_all, read
from lakehouse_assets_tests.support import broken_rules

EVENT = {
    "id": "evt_1", "type": "customer.created", "created": 1_777_896_000, "livemode": True,
    "data": {"object": {"id": "x_1", "amount": 1999}},
}  # fmt: skip
GOOD: Row = CAME | {"data": '{"object":{"id":"x_1"}}'}


def test_an_envelope_is_typed_and_its_object_stays_text(lake: Lake) -> None:
    (row,) = read(lake, stripe_customers, EVENT)
    assert (row["id"], row["created"], row["is_live"]) == ("evt_1", 1_777_896_000, True)
    assert json.loads(row["data"]) == EVENT["data"]
    assert (row["_error"], row["_payload"]) == (None, None)


def test_stripes_event_has_a_column_for_each_field(lake: Lake) -> None:
    made = requests(7, 400, FIRST_DAY, Dirt.only())
    said = json.loads(next(r.body for r in made if r.topic == "customer.created"))
    has_columns_for_all(lake, stripe_customers, said)
    assert set(said) <= set(StripeCustomers.fields()), "so that nothing is stored twice"


def test_what_is_of_another_type_is_an_error_and_what_nobody_knows_is_kept(lake: Lake) -> None:
    wrong: list[Row] = [{"created": "soon"}, {"livemode": "yes"}, {"created": 1.5}]
    found = read(lake, stripe_customers, *[EVENT | one for one in wrong])
    assert [(row["_error"], row["id"]) for row in found] == [("wrong type", None)] * len(wrong)
    (row,) = read(lake, stripe_customers, EVENT | {"beta_feature": {"since": 1}})
    assert row["_error"] is None and json.loads(row["_payload"])["beta_feature"] == {"since": 1}


def test_its_rules_measure_the_dirt(lake: Lake) -> None:
    dirty: dict[str, Row] = {
        "parses": {"_error": "malformed"},
        "came_through_the_door": GOOD | {"_received_at": None},
        "holds_an_object": GOOD | {"data": "{}"},
    }
    assert broken_rules(lake, StripeCustomers, GOOD, *dirty.values()) == ["", *dirty]
