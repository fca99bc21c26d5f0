"""The life of an order, a transaction a step. False: there was nothing to do it with."""

from lakehouse_assets.sources.storefront.desk import Desk
from lakehouse_assets.sources.storefront.making import MAX_LINES, MAX_QUANTITY, Sold

BUILT_UP_SHARE = 0.3  # of the orders: first the order, then its lines, then what they come to
FAILED_SHARE, AUTHORIZED_SHARE = 0.08, 0.3  # of the payments


def placed(desk: Desk) -> bool:
    buyer = desk.any("customers", "id")
    count = desk.rng.randint(1, MAX_LINES)
    sold = [desk.any("products", "id, price", "is_active") for _ in range(count)]
    if not buyer or not all(sold):
        return False
    (address,) = desk.the(
        "select min(id) from addresses where customer_id = %s and kind = 'shipping'", buyer[0]
    )
    lines = [Sold(*found) for found in sold if found]
    order, items = desk.maker.order(0, buyer[0], address, lines, desk.now())
    is_built_up = desk.rng.random() < BUILT_UP_SHARE
    id = desk.add(order._replace(total=order.total * 0) if is_built_up else order)
    for item in items:
        desk.add(item._replace(order_id=id))
    if is_built_up:
        _total(desk, id)
    return True


def paid(desk: Desk) -> bool:
    """Some payments fail, and some are first authorized: their row is touched twice."""
    if not (found := desk.order("pending")):
        return False
    id, total, _ = found
    payment = desk.maker.payment(None, id, total, desk.now())
    draw = desk.rng.random()
    if draw < FAILED_SHARE:
        desk.add(payment._replace(status="failed", captured_at=None))
        return True
    if draw < FAILED_SHARE + AUTHORIZED_SHARE:
        at = desk.add(payment._replace(status="authorized", captured_at=None))
        now = desk.now()
        desk.run(
            "update payments set status = 'captured', captured_at = %s, updated_at = %s"
            " where id = %s", now, now, at,
        )  # fmt: skip
    else:
        desk.add(payment)
    _stands(desk, id, "paid")
    return True


def shipped(desk: Desk) -> bool:
    if not (found := desk.order("paid")):
        return False
    desk.add(desk.maker.shipment(None, found[0], desk.now()))
    _stands(desk, found[0], "shipped")
    return True


def delivered(desk: Desk) -> bool:
    if not (found := desk.order("shipped")):
        return False
    now = desk.now()
    desk.run(
        "update shipments set delivered_at = %s, updated_at = %s where order_id = %s",
        now, now, found[0],
    )  # fmt: skip
    _stands(desk, found[0], "delivered")
    return True


def cancelled(desk: Desk) -> bool:
    """Who has paid gets it back."""
    return _ended(desk, "cancelled", desk.order("pending", "paid"))


def refunded(desk: Desk) -> bool:
    return _ended(desk, "refunded", desk.order("delivered"))


def quantity_changed(desk: Desk) -> bool:
    if not (found := desk.order("pending")):
        return False
    (lines,) = desk.the("select max(line) from order_items where order_id = %s", found[0])
    desk.run(
        f"update order_items set quantity = quantity %% {MAX_QUANTITY} + 1, updated_at = %s"
        " where order_id = %s and line = %s",
        desk.now(), found[0], desk.rng.randint(1, lines),
    )  # fmt: skip
    _total(desk, found[0])
    return True


def item_removed(desk: Desk) -> bool:
    """The lines behind it move up: their keys change, one after the other."""
    if not (found := desk.order("pending")):
        return False
    (lines,) = desk.the("select max(line) from order_items where order_id = %s", found[0])
    if lines == 1:
        return False
    gone = desk.rng.randint(1, lines)
    desk.run("delete from order_items where order_id = %s and line = %s", found[0], gone)
    for line in range(gone + 1, lines + 1):
        desk.run(
            "update order_items set line = line - 1, updated_at = %s"
            " where order_id = %s and line = %s", desk.now(), found[0], line,
        )  # fmt: skip
    _total(desk, found[0])
    return True


def purged(desk: Desk) -> bool:
    """An order that came to nothing, with all that hangs on it."""
    if not (found := desk.order("cancelled", "refunded")):
        return False
    for table in ("shipments", "payments", "order_items"):
        desk.run(f"delete from {table} where order_id = %s", found[0])
    desk.run("delete from orders where id = %s", found[0])
    return True


def _ended(desk: Desk, status: str, found: tuple[object, ...] | None) -> bool:
    if not found:
        return False
    desk.run(
        "update payments set status = 'refunded', updated_at = %s"
        " where order_id = %s and status = 'captured'", desk.now(), found[0],
    )  # fmt: skip
    _stands(desk, found[0], status)
    return True


def _stands(desk: Desk, id: object, status: str) -> None:
    desk.run(
        "update orders set status = %s, updated_at = %s where id = %s", status, desk.now(), id
    )


def _total(desk: Desk, id: int) -> None:
    """What the lines cost, less a discount that is no more than that."""
    desk.run(
        "update orders set discount = least(discount, worth),"
        " total = worth - least(discount, worth), updated_at = %s"
        " from (select sum(quantity * unit_price) as worth from order_items where order_id = %s)"
        " as lines where id = %s", desk.now(), id, id,
    )  # fmt: skip
