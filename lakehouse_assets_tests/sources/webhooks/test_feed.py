import json
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any

import pytest

from lakehouse_assets.sources.webhooks import EVERY, FIRST_DAY, Dirt, Request, requests
from lakehouse_assets.sources.webhooks.dirt import KINDS
from lakehouse_assets.sources.webhooks.request import VENDORS

CLEAN = Dirt.only()


def run(count: int = 6_000, dirt: Dirt = CLEAN, **more: Any) -> list[Request]:
    return list(requests(3, count, FIRST_DAY, dirt, **more))


def orders(made: list[Request]) -> list[dict[str, Any]]:
    return [json.loads(r.body) for r in made if r.topic.startswith("orders/")]


def happened(request: Request) -> list[float]:
    """Epoch seconds at which its events say they happened."""
    said = json.loads(request.body)
    if request.vendor == "stripe":
        return [said["created"]]
    if request.vendor == "hubspot":
        return [event["occurredAt"] / 1000 for event in said]
    at = said.get("updated_at") or said.get("created_at")
    return [datetime.fromisoformat(at).timestamp()] if at else []


def test_the_same_arguments_give_the_same_bytes_and_fewer_are_the_beginning_of_more() -> None:
    assert run(3_000, Dirt()) == run(3_000, Dirt()) == run(4_000, Dirt())[:3_000]


def test_other_runs_share_no_id_and_no_mailbox() -> None:
    one = run(1_500)
    two = list(requests(3, 1_500, FIRST_DAY + timedelta(days=1), CLEAN))
    assert not {i for r in one for i in r.ids} & {i for r in two for i in r.ids}
    mailboxes = [{o["email"] and o["email"].strip().lower() for o in orders(m)} for m in (one, two)]
    assert mailboxes[0] & mailboxes[1] <= {None}


def test_vendors_that_run_apart_tell_of_the_same_world() -> None:
    together = run(3_000, Dirt())
    for vendor in VENDORS:
        ours = [r for r in together if r.vendor == vendor]
        assert run(len(ours), Dirt(), only=[vendor]) == ours
        assert len(ours) * EVERY[vendor] > 3_000


def test_what_was_made_before_the_sending_begins_is_left_out_but_for_who_is_who() -> None:
    noon = FIRST_DAY + timedelta(minutes=20)
    sent = run(3_000, sent_from=noon)
    early = [r for r in sent if r.made_ms < noon.timestamp() * 1000]
    assert early and all(r.known or r.topic.startswith("company.") for r in early)
    known = {int(r.about) for r in sent if r.vendor == "shopify" and r.known}
    assert {order["customer"]["id"] for order in orders(sent)} <= known


def test_nothing_is_said_to_happen_after_the_instant_of_its_request() -> None:
    for request in run(5_000, Dirt(malformed=0, late=0.05)):
        assert all(at <= request.made_ms / 1000 for at in happened(request)), request


@pytest.mark.parametrize("kind", KINDS["webhooks"])
def test_each_kind_of_dirt_comes_at_its_rate(kind: str) -> None:
    alone = Counter(r.kind for r in run(4_000, Dirt.only(**{kind: 0.05})))
    assert alone[kind] == pytest.approx(200, abs=4)
    usual = Counter(r.kind for r in run(20_000, Dirt()))
    assert usual[kind] == pytest.approx(20_000 * Dirt().rates()[kind], abs=3)


def test_a_redelivery_has_the_ids_of_what_was_sent_before_and_hubspot_counts_it() -> None:
    before: dict[tuple[str, ...], bytes] = {}
    for request in run(4_000, Dirt.only(redelivery=0.1)):
        if request.kind == "redelivery":
            again = request.body.replace(b'"attemptNumber":1', b'"attemptNumber":0')
            assert before[request.ids] == again
            assert (request.body != again) is (request.vendor == "hubspot")
        else:
            assert request.ids not in before
            before[request.ids] = request.body


def test_an_overtaken_update_is_older_than_the_one_before_it() -> None:
    for kind in ("out_of_order", "stale_order"):
        newest: dict[str, float] = defaultdict(float)
        late = 0
        for request in run(4_000, Dirt.only(**{kind: 0.05})):
            told = max(happened(request), default=0)
            if request.kind == kind:
                late += told < newest[request.about]
            newest[request.about] = max(newest[request.about], told)
        assert late >= 190


def test_totals_add_up_but_where_they_are_some_cents_off() -> None:
    made = run(3_000, Dirt.only(off_total=0.05))
    for request in made:
        if not request.topic.startswith("orders/"):
            continue
        (order,) = orders([request])
        goods = sum(_cents(i["price"]) * i["quantity"] for i in order["line_items"])
        shipping = order["total_shipping_price_set"]["shop_money"]["amount"]
        tax = 0 if order["taxes_included"] else _cents(order["total_tax"])
        parts = goods - _cents(order["total_discounts"]) + tax
        off = _cents(order["total_price"]) - parts - _cents(shipping)
        assert (2 <= off <= 9) if request.kind == "off_total" else off == 0


def _cents(said: str) -> int:
    return int(said.replace(".", ""))


def test_line_items_that_are_no_list_and_malformed_values_take_turns() -> None:
    made = run(3_000, Dirt.only(no_list=0.02, malformed=0.02))
    items = [o["line_items"] for o in orders([r for r in made if r.kind == "no_list"])]
    assert {str(one) for one in items} == {"none", "{}", "None", "3"}
    wrong = b"".join(r.body for r in made if r.kind == "malformed")
    for value in (b'"12,50"', b'"EURO"', b'"updated_at":"yesterday"', b'"occurredAt":"yesterday"',
                  b'"created":"soon"'):  # fmt: skip
        assert value in wrong


def test_the_speed_of_making_requests_is_told() -> None:
    run(100)
    began = perf_counter()
    made = run(20_000, Dirt())
    seconds = perf_counter() - began
    sizes = [len(r.body) for r in made if r.topic.startswith("orders/")]
    print(f"\n{20_000 / seconds:,.0f} requests/s; an order has {sum(sizes) / len(sizes):,.0f} B")
