"""The watcher over Kafka Connect: registers the connectors that deploy/connectors/ describes, and
restarts what fails of them, with growing pauses.

It keeps nothing: configurations and places are Connect's. Killed, it is merely not there to help;
the next one takes over. Connect retries by itself while a database is away; here comes what it has
given up.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone

from lakehouse_assets.services import connectors
from lakehouse_assets.services.connect import PASSWORD, Connect, connect_url
from lakehouse_assets.services.connectors import Health
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.secrets import secret
from lakehouse_assets.services.service import Service

LOOK_S = 1.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 2.0, 120.0
WELL_S = 60.0  # one that ran so long has recovered: its next failure is a first one
CHECK_S = 60.0  # whether it still is as described: a table more may be published by now
SOON_S = 3.0  # until it is registered: the shop may be about to be made
SETTLED_S = 1.0


class Capture(Service):
    name = "capture"
    is_optional = True
    start_timeout_s = 30

    def env(self) -> dict[str, str]:
        return super().env() | {PASSWORD: secret(PASSWORD)}

    def command(self) -> list[str]:
        return [sys.executable, "-m", "lakehouse_assets.services.capture"]

    def probe(self) -> bool:
        process = self._recorded()
        return process is not None and time.time() - process.create_time() > SETTLED_S


def tell(text: str) -> None:
    print(f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ} {text}", flush=True)


@dataclass
class Watch:
    """One connector: is it registered, and when may what failed be tried again?"""

    name: str
    is_described: bool  # by a template, which it is registered from
    clock: Callable[[], float] = time.monotonic
    is_registered: bool = False
    check_at: float = 0
    pause_s: float = FIRST_PAUSE_S
    not_before: float = 0
    since: float | None = None  # it runs
    said: str = field(default="", repr=False)

    def look(self, health: Health | None) -> None:
        is_deleted = self.is_registered and health is None
        if self.is_described and not is_deleted and self.clock() >= self.check_at:
            self._check()
        elif health and health.is_failed:
            self.since = None
            if self.clock() >= self.not_before:
                self.not_before = self.clock() + self.pause_s
                self._say(f"failed: {health.trouble}. Restarted; again in {self.pause_s:.0f} s")
                self.pause_s = min(self.pause_s * 2, LONGEST_PAUSE_S)
                connectors.restart(self.name, only_failed=True)
        elif health and health.is_running:
            self._runs()

    def _check(self) -> None:
        try:
            changed = connectors.register(self.name)
        except ServiceError as error:
            self._say(f"not as described: {error}")
        else:
            if changed or not self.is_registered:
                self._say("registered" if changed else "is registered as described")
            self.is_registered = True
        self.check_at = self.clock() + (CHECK_S if self.is_registered else SOON_S)

    def _runs(self) -> None:
        if self.since is None:
            self.since = self.clock()
            self._say("runs")
        elif self.clock() - self.since > WELL_S:
            self.pause_s, self.not_before = FIRST_PAUSE_S, 0

    def _say(self, text: str) -> None:
        """The same once."""
        if text != self.said:
            tell(f"{self.name}: {text}")
        self.said = text


def main() -> None:
    watches = {name: Watch(name, is_described=True) for name in connectors.templates()}
    tell(f"watches over {connect_url()} for {', '.join(watches) or 'no template'}")
    is_there = True
    while True:
        try:
            _look(watches)
            if not is_there:
                tell("Kafka Connect answers again")
            is_there = True
        except ServiceError as error:
            if is_there:
                tell(f"Kafka Connect: {error}. `lakehouse up connect` starts it")
            is_there = False
        time.sleep(LOOK_S)


def _look(watches: dict[str, Watch]) -> None:
    if not Connect().probe():
        raise ServiceError(f"it is not ready at {connect_url()}")
    healths = connectors.healths()
    for name in healths:
        watches.setdefault(name, Watch(name, is_described=False))
    for watch in watches.values():
        watch.look(healths.get(watch.name))


if __name__ == "__main__":
    main()
