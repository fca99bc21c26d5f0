"""A large shop that is captured for the first time: from its snapshot to every mart.

All that it takes runs, the daemon and the webserver too, and the sensors start their runs while the
snapshot is still being made. At the end every row is compared with the database's, and the marts
with what that comes to.
"""

import time
from typing import Any

from lakehouse_assets.bench import _shop
from lakehouse_assets.bench._lab import doing, lab, say
from lakehouse_assets.bench._stack import StackMeter
from lakehouse_assets.services.capture import Capture
from lakehouse_assets.services.connect import Connect
from lakehouse_assets.services.dagster import CodeServer, Daemon, Webserver
from lakehouse_assets.sources.storefront.captured import wait_until_captured
from lakehouse_assets.sources.storefront.seeding import Sizes

ORDERS_OF_A_CUSTOMER, ORDERS_OF_A_PRODUCT = 5, 100


def run(orders: int = 500_000, seed: int = 7) -> dict[str, Any]:
    """Seed a shop of so many orders and time its way, stage by stage.

    Every second figure but the seeding's counts from the start of the capture.
    """
    sizes = Sizes(
        max(orders // ORDERS_OF_A_CUSTOMER, 1), max(orders // ORDERS_OF_A_PRODUCT, 1), orders
    )
    with lab(*_shop.services()) as place:
        _shop.start(place, CodeServer(), Daemon(), Webserver(), Connect())
        began, stages = time.monotonic(), dict[str, float]()
        _shop.seed(sizes, seed)
        stages["seed_s"] = round(time.monotonic() - began, 1)
        began = time.monotonic()
        _shop.start(place, Capture())
        with StackMeter(_shop.pids(place)) as meter:
            wait_until_captured(_shop.SNAPSHOT_S)
            stages["snapshot_s"] = _since(began, "in Kafka")
            has_arrived = True
            for layer in ("raw", "staging", "semantic", "marts"):
                has_arrived &= _shop.arrived(layer)
                stages[f"{layer}_s"] = _since(began, f"in {layer}")
        with doing("comparing every row"):
            told = _shop.compared()
    return {"orders": orders} | told | {"has_arrived": has_arrived} | stages | meter.told()


def _since(began: float, what: str) -> float:
    seconds = round(time.monotonic() - began, 1)
    say(f"{what} after {seconds} s")
    return seconds
