"""What has become of an order: its steps up to now, and the rows that they left."""

from datetime import datetime, timedelta
from itertools import count
from typing import NamedTuple

from lakehouse_assets.sources.storefront.making import Maker, Placed
from lakehouse_assets.sources.storefront.rows import Order, OrderItem, Payment, Row, Shipment

SECOND = timedelta(seconds=1)
HOUR, DAY = 3_600, 86_400
# The steps that it takes in time, each after so many seconds, and how many of a hundred go so.
PAY, SHIP = ("paid", 60, 2 * DAY), ("shipped", 4 * HOUR, 3 * DAY)
DELIVER = ("delivered", DAY, 5 * DAY)
CANCEL, REFUND = ("cancelled", HOUR, 2 * DAY), ("refunded", DAY, 20 * DAY)
FATES = {
    (PAY, SHIP, DELIVER): 88, (PAY, SHIP, DELIVER, REFUND): 5, (CANCEL,): 4, (PAY, CANCEL): 3,
}  # fmt: skip
FAILED_SHARE = 0.05  # of the orders, a first payment


class Past(NamedTuple):
    order: Order
    lines: list[OrderItem]
    payments: list[Payment]
    shipments: list[Shipment]

    def rows(self) -> list[Row]:
        return [self.order, *self.lines, *self.payments, *self.shipments]


class Ids(NamedTuple):
    payments: "count[int]"
    shipments: "count[int]"


def past(maker: Maker, placed: Placed, ids: Ids, now: datetime) -> Past:
    """Nothing is said to have happened after now."""
    when = _steps(maker, placed.order.created_at, now)
    status = next(reversed(when), "pending")
    order = placed.order._replace(
        status=status, updated_at=when.get(status, placed.order.created_at)
    )
    shipments = []
    if shipped := when.get("shipped"):
        assert order.id is not None
        made = maker.shipment(next(ids.shipments), order.id, shipped)
        delivered = when.get("delivered")
        shipments = [made._replace(delivered_at=delivered, updated_at=delivered or shipped)]
    return Past(order, placed.lines, _payments(maker, order, when, ids), shipments)


def _steps(maker: Maker, at: datetime, now: datetime) -> dict[str, datetime]:
    (fate,) = maker.rng.choices(tuple(FATES), tuple(FATES.values()))
    when = {}
    for step, least, most in fate:
        at += SECOND * maker.rng.uniform(least, most)
        if at > now:
            break
        when[step] = at
    return when


def _payments(maker: Maker, order: Order, when: dict[str, datetime], ids: Ids) -> list[Payment]:
    assert order.id is not None
    found = []
    if maker.rng.random() < FAILED_SHARE:
        tried = maker.payment(next(ids.payments), order.id, order.total, order.created_at)
        found.append(tried._replace(status="failed", captured_at=None))
    if paid := when.get("paid"):
        made = maker.payment(next(ids.payments), order.id, order.total, paid)
        if back := when.get("refunded") or when.get("cancelled"):
            made = made._replace(status="refunded", updated_at=back)
        found.append(made)
    return found
