"""From a commit in the shop's Postgres to its row in the table of what is there now.

The real daemon with its sensors, first at a steady rate, then with a backlog: nobody captures until
so many changes wait, then all of them are taken. What was committed when, the database itself tells
through a replication slot of its own; when it can be seen, the rows tell that readers find. At the
end every row is compared with the database's.
"""

import threading
import time
from typing import Any

from lakehouse_assets.bench import _shop
from lakehouse_assets.bench._feed import waits
from lakehouse_assets.bench._lab import Lab, counting, doing, lab, say
from lakehouse_assets.bench._lookout import Lookout, Seen
from lakehouse_assets.bench._stack import StackMeter
from lakehouse_assets.services import connectors
from lakehouse_assets.services.connect import connect_url
from lakehouse_assets.services.dagster import CodeServer, Daemon, Webserver
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.rest import ask
from lakehouse_assets.sources.storefront.captured import wait_until_captured
from lakehouse_assets.sources.storefront.live import Flow
from lakehouse_assets.sources.storefront.seeding import Sizes
from lakehouse_assets.sources.storefront.truth import logged
from lakehouse_assets.sources.storefront.truth.logged import Logged

CONNECTOR = "postgres-source-storefront"
OF_A_TRANSACTION = 3  # changes, or a few more
STOPPING_S = 30


def run(
    changes: int = 100_000,
    minutes: float = 5.0,
    rate: float = 25.0,
    warmup: int = 60,
    orders: int = 10_000,
    seed: int = 7,
) -> dict[str, Any]:
    """Measure the way of single changes at a rate, then of a backlog of so many `changes`.

    `rate`: transactions per second, of three changes or more each; what that came to is told.
    `warmup`: seconds of the same before. `orders`: that the shop has before anything happens.
    """
    with lab(*_shop.services()) as place:
        _shop.seed(Sizes(orders=orders), seed)
        _shop.capture(place)
        _shop.start(place, CodeServer(), Daemon(), Webserver())
        with doing("bringing the first snapshot into every table"):
            _shop.arrived()
        return measure(place, changes, minutes, rate, warmup, seed)


def measure(
    place: Lab, changes: int, minutes: float, rate: float, warmup: int, seed: int
) -> dict[str, Any]:
    """The same on a stack that runs already and has caught up."""
    lookout, pids = Lookout(), _shop.pids(place)
    lookout.start()
    try:
        with StackMeter(pids) as at_rate:
            began = time.time() + warmup
            ended = _traffic(seed, rate, round((minutes * 60 + warmup) * rate))
            is_whole = _whole()
        steady = [one for one in logged.more() if began <= one.committed_at <= ended]
        backlog = _backlog(seed, changes)
        with StackMeter(pids) as at_full_speed:
            resumed = time.time()
            ask(f"{connect_url()}/connectors/{CONNECTOR}/resume", "PUT")
            is_whole &= _whole()
    finally:
        lookout.stop()
    with doing("reading back when each change was to be seen"):
        singly, together = lookout.seen(steady), lookout.seen(backlog)
    result = (
        _steady(singly, (ended - began))
        | _taken(together, resumed)
        | _shop.compared()
        | {
            "has_arrived": is_whole,
            **at_full_speed.told(),
            "steady_cpu_s": at_rate.told()["cpu_s"],
            "peak_mb": round(max(at_rate.peak_mb, at_full_speed.peak_mb)),
        }
    )
    say(f"{result['events']:,} changes at {result['rate']}/s: to be seen after {result['p50_s']} s "
        f"(p50), {result['p95_s']} s (p95); a backlog of {result['changes']:,} at "
        f"{result['changes_per_s']}/s; {result['wrong']} rows differ")  # fmt: skip
    return result


def _traffic(seed: int, rate: float, count: int) -> float:
    with counting("transactions", count) as done:
        Flow(seed, rate, count).run(threading.Event(), done)
    return time.time()


def _backlog(seed: int, changes: int) -> list[Logged]:
    """At least so many, which nobody captures yet."""
    _stop_capturing()
    found = logged.more()
    with counting("changes that wait", changes) as count:
        while len(found) < changes:
            wanted = max((changes - len(found)) // OF_A_TRANSACTION // 2, 1)
            Flow(seed, 0, wanted).run(threading.Event(), lambda done: None)
            found += logged.more()
            count(len(found))
    return found


def _stop_capturing() -> None:
    ask(f"{connect_url()}/connectors/{CONNECTOR}/stop", "PUT")
    deadline = time.monotonic() + STOPPING_S
    while (health := connectors.healths()[CONNECTOR]).tasks or health.state != "STOPPED":
        if time.monotonic() > deadline:
            raise ServiceError(
                f"{CONNECTOR} is still {health.state} {STOPPING_S} s after it was asked to stop; "
                "see `lakehouse logs connect`"
            )
        time.sleep(0.1)


def _whole() -> bool:
    wait_until_captured(_shop.PATIENCE_S)
    return _shop.arrived()


def _steady(seen: Seen, seconds: float) -> dict[str, Any]:
    waited = sorted(at - change.committed_at for change, at in seen.arrived)
    never, count = len(seen.never), len(seen.arrived) + len(seen.never)
    return {
        "events": count,
        **waits(waited, never),
        "short_lived": len(seen.short_lived),
        "rate": round((count + len(seen.short_lived)) / seconds, 1),
    }


def _taken(seen: Seen, since: float) -> dict[str, Any]:
    """Of those that were gone before they could be seen all the same had to be taken."""
    count = len(seen.arrived) + len(seen.short_lived)
    seconds = max((at for _, at in seen.arrived), default=since) - since
    is_whole = seconds > 0 and not seen.never
    return {
        "changes": count + len(seen.never),
        "changes_per_s": round(count / seconds, 1) if is_whole else None,
        "backlog_s": round(seconds, 1) if is_whole else None,
        "never_taken": len(seen.never),
    }
