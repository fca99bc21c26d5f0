"""What goes on in the shop, a transaction after the other, each of a drawn kind.

The same seed does the same to the same database; the instants are the clock's.
"""

from collections.abc import Callable
from datetime import datetime, timezone

import psycopg

from lakehouse_assets.sources.storefront import catalogue, customers, orders
from lakehouse_assets.sources.storefront.database import next_run
from lakehouse_assets.sources.storefront.desk import Desk
from lakehouse_assets.sources.storefront.making import Maker

KINDS: dict[str, tuple[int, Callable[[Desk], bool]]] = {  # how many of a hundred are such
    "order_placed": (24, orders.placed),
    "order_paid": (18, orders.paid),
    "order_shipped": (13, orders.shipped),
    "order_delivered": (10, orders.delivered),
    "order_cancelled": (3, orders.cancelled),
    "order_refunded": (2, orders.refunded),
    "order_purged": (2, orders.purged),
    "quantity_changed": (4, orders.quantity_changed),
    "item_removed": (4, orders.item_removed),
    "customer_joined": (5, customers.joined),
    "customer_left": (2, customers.left),
    "email_changed": (2, customers.email_changed),
    "segment_changed": (2, customers.segment_changed),
    "address_changed": (3, customers.address_changed),
    "price_changed": (2, catalogue.price_changed),
    "description_edited": (1, catalogue.description_edited),
    "product_launched": (1, catalogue.product_launched),
    "product_withdrawn": (1, catalogue.product_withdrawn),
    "shelf_moved": (1, catalogue.shelf_moved),
}
INSTEAD = ("order_placed", "customer_joined")  # where there is nothing to do what was drawn with


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


class Traffic:
    """One stream of transactions; after a lost connection it goes on over another."""

    def __init__(self, seed: int, clock: Callable[[], datetime] = utc_now) -> None:
        self._seed, self._clock = seed, clock
        self._weights = [weight for weight, _ in KINDS.values()]
        self._desk: Desk | None = None

    def transact(self, connection: psycopg.Connection) -> str:
        """Do one transaction; of which kind it was."""
        if self._desk is None:
            maker = Maker(f"traffic/{self._seed}/{next_run(connection)}")
            self._desk = Desk(connection, maker, self._clock)
        desk = self._desk
        desk.connection = connection
        (drawn,) = desk.rng.choices(tuple(KINDS), self._weights)
        with connection.transaction():
            for kind in (drawn, *INSTEAD):
                if KINDS[kind][1](desk):
                    return kind
        raise AssertionError("somebody can always join")
