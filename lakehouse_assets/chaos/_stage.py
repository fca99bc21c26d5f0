"""Where chaos happens: a lake with a stream of charges, its processes, the ways to kill them."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import Any
from urllib.request import urlopen

from lakehouse_assets import settings
from lakehouse_assets.bench._lab import Lab, say
from lakehouse_assets.chaos._actor import COMPACTED, REFUSED, group
from lakehouse_assets.chaos._plan import CLIENT, KAFKA, RUN, SPARK, Step
from lakehouse_assets.chaos._process import RUN_S, Actor
from lakehouse_assets.commands.readback import Sent
from lakehouse_assets.services.host import HOST, ServiceError
from lakehouse_assets.sources.event import Event
from lakehouse_assets.sources.payments import Dirt, payments
from lakehouse_assets.sources.produce import produce
from lakehouse_assets.sources.webhooks import Dirt as Webhooks
from lakehouse_assets.sources.webhooks import delivered, requests, vendors

MARK_S = 240  # for a run to reach the point after which something is killed
STREAM_S = 86_400  # the stream's events lie within the last day
MEANWHILE = 60  # records that are sent while a run is going on
OUTAGE = 40  # records that are sent while the broker is down
UI_S = 10  # for Spark's UI to say which jobs there were
DIRT = Dirt(
    duplicate=0.05, redelivery=0.05, late=0.05, malformed=0.02, wrong_type=0.02, null_value=0.01,
    negative_amount=0.01, tie_event=0.01, tie_state=0.01, unknown_field=0.02, early=0.02,
    deletion=0.05, illegal_step=0.05, after_cancel=0.05, oversized=0,
)  # fmt: skip

WEBHOOK_DIRT = Webhooks(
    redelivery=0.05, late=0.05, out_of_order=0.05, stale_order=0.05, unknown_field=0.02,
    malformed=0.05,
)  # fmt: skip


def _payments(
    seed: int, start: datetime, pace: timedelta, topics: list[str]
) -> Iterator[Event]:
    return payments(seed, None, start, DIRT, pace, only=topics)


def _webhooks(
    seed: int, start: datetime, pace: timedelta, topics: list[str]
) -> Iterator[Event]:
    """As the door would have made them. Who wants few topics must not run ahead of the clock."""
    interval = pace * len(topics) / len(vendors.TOPICS)
    made = delivered.records(requests(seed, None, start, WEBHOOK_DIRT, interval))
    return (event for event in made if event.topic in topics)


STREAMS = {"payments": _payments, "webhooks": _webhooks}


class Stage:
    """The stream, the actors that live, and what happened to them."""

    def __init__(self, place: Lab, seed: int, records: int, topics: list[str]) -> None:
        self.place, self.sent, self.topics = place, Sent(), topics
        self.hung, self.failed = 0, 0
        self.happened = Counter[str]()  # beside the kills
        self._actors: list[Actor] = []
        pace = timedelta(seconds=STREAM_S) / records
        start = datetime.now(timezone.utc) - timedelta(seconds=STREAM_S)
        self._stream = STREAMS[group()](seed, start, pace, topics)

    def send(self, count: int) -> None:
        produce(self.sent.noting(islice(self._stream, count)))

    def start(self, role: str, kill_at: str = "") -> Actor:
        actor = Actor(role, kill_at)
        self._actors.append(actor)
        return actor

    def end_all(self) -> None:
        for actor in self._actors:
            actor.kill()
            actor.wait(10)

    def play(self, step: Step) -> bool:
        """One step; False if its kill missed what it was to disturb."""
        self.send(step.burst)
        kill_at = step.mark if step.fault == RUN else ""
        runs = [self.start("run", kill_at) for _ in range(1 + step.is_doubled)]
        helpers = [self.start("compact")] if step.is_compacted else []
        self.send(MEANWHILE)
        strike = {RUN: self._self_kill, CLIENT: self._client}.get(step.fault, self._server)
        is_hit = strike(step, runs)
        for actor in [*runs, *helpers]:
            self.see_off(actor, is_victim=is_hit and step.fault in (SPARK, KAFKA))
        self._note_company(runs, helpers)
        return is_hit

    def see_off(self, actor: Actor, is_victim: bool = False) -> bool:
        """Wait for its end; True if it was a good one."""
        code = actor.wait()
        if code is None:
            self.hung += 1
            say(f"  a {actor.role} did not end within {RUN_S} s and was killed")
        elif code and code != -signal.SIGKILL and not is_victim:
            self.failed += 1
            say(f"  a {actor.role} failed: {actor.last_words()}")
        return code == 0

    def _note_company(self, runs: Sequence[Actor], helpers: Sequence[Actor]) -> None:
        for line in (line for helper in helpers for line in helper.heard):
            self.happened["compactions"] += line.startswith(COMPACTED)
            if line.startswith(REFUSED):
                self.happened["compactions_refused"] += 1
                say(f"  {line}")
        if len(runs) > 1:
            self.happened["doubled"] += 1
            begun = [{line for line in run.heard if line.startswith("branch@")} for run in runs]
            self.happened["raced"] += bool(set.intersection(*begun))

    def _self_kill(self, step: Step, runs: Sequence[Actor]) -> bool:
        """Of two runs the one that gets there, or both, one after the other."""
        return -signal.SIGKILL in [run.wait() for run in runs]

    def _client(self, step: Step, runs: Sequence[Actor]) -> bool:
        """Killed while it waits for its write: later, nothing of it would go on in the server."""
        victim = runs[0]
        if not victim.reached(step.mark, MARK_S):
            return False
        time.sleep(step.delay_s)
        at = time.time()
        is_hit = victim.kill()
        victim.wait()
        is_hit = is_hit and not victim.has_said(step.is_over)
        if is_hit:
            time.sleep(1)  # the job that was about to begin has begun
            self.happened["queries_left_running"] += _went_on(victim.session, at)
        return is_hit

    def _server(self, step: Step, runs: Sequence[Actor]) -> bool:
        """Killed under a run that is at work with it, and started again as a person would."""
        name, victim = step.fault, runs[0]
        if not victim.reached(step.mark, MARK_S):
            return False
        time.sleep(step.delay_s)
        is_past = name == KAFKA and victim.has_said(step.is_over)
        if is_past or not victim.is_alive:
            return False
        try:
            os.kill(self.place.pid(name), signal.SIGKILL)
        except (ServiceError, ProcessLookupError):
            return False
        with ThreadPoolExecutor(1) as pool:  # the stream goes on
            outage = pool.submit(self.send, OUTAGE if name == KAFKA else 0)
            next(s for s in self.place.services if s.name == name).start()
            outage.result()
        return True


def _went_on(session: str, since: float) -> bool:
    """Whether Spark worked for that session later than `since`, as its UI tells."""
    try:
        base = f"http://{HOST}:{settings.port('spark_ui')}/api/v1/applications"
        jobs = _asked(f"{base}/{_asked(base)[0]['id']}/jobs")
    except (OSError, ValueError, LookupError):
        return False
    mine = [job for job in jobs if any(session in tag for tag in job.get("jobTags", ()))]
    return bool(session) and any(_end(job) > since for job in mine)


def _end(job: dict[str, Any]) -> float:
    if "completionTime" not in job:
        return float("inf")
    told = str(job["completionTime"]).replace("GMT", "+0000")
    return datetime.strptime(told, "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()


def _asked(url: str) -> Any:
    with urlopen(url, timeout=UI_S) as answer:
        return json.load(answer)
