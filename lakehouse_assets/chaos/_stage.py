"""Where chaos happens: a lake into which a source streams, its processes, the ways to kill them."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.request import urlopen

from lakehouse_assets import settings
from lakehouse_assets.bench._lab import Lab, say
from lakehouse_assets.chaos._actor import COMPACTED, REFUSED
from lakehouse_assets.chaos._plan import CLIENT, KAFKA, RUN, Step
from lakehouse_assets.chaos._process import RUN_S, Actor
from lakehouse_assets.chaos._source import Source, Traffic
from lakehouse_assets.services.host import HOST, ServiceError

MARK_S = 240  # for a run to reach the point after which something is killed
LOOK_S = 0.05
UNDER_TRAFFIC = "kills_under_traffic"
UI_S = 10  # for Spark's UI to say which jobs there were


class Stage:
    """The source, the actors that live, and what happened to them."""

    def __init__(self, place: Lab, source: Source) -> None:
        self.place, self.source = place, source
        self.hung, self.failed = 0, 0
        self.happened = Counter[str]()  # beside the kills
        self._actors: list[Actor] = []
        self._traffic, self._was_going = Traffic(), False

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
        self.source.send(step.burst)
        kill_at = step.mark if step.fault == RUN else ""
        runs = [self.start("run", kill_at) for _ in range(1 + step.is_doubled)]
        helpers = [self.start("compact")] if step.is_compacted else []
        strike = {RUN: self._self_kill, CLIENT: self._client}.get(step.fault, self._server)
        self._was_going = False
        with self.source.alongside() as self._traffic:
            is_hit = strike(step, runs)
        self.happened[UNDER_TRAFFIC] += is_hit and self._was_going
        for actor in [*runs, *helpers]:
            self.see_off(actor, is_victim=is_hit and step.fault in self.source.servers)
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

    def _strike(self) -> None:
        """Now."""
        self._was_going = self._traffic.is_going()

    def _self_kill(self, step: Step, runs: Sequence[Actor]) -> bool:
        """Of two runs the one that gets there, or both, one after the other."""
        deadline = time.monotonic() + RUN_S
        while all(run.is_alive for run in runs) and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        self._strike()
        self._traffic.end()  # a run goes on as long as something comes
        return -signal.SIGKILL in [run.wait() for run in runs]

    def _client(self, step: Step, runs: Sequence[Actor]) -> bool:
        """Killed while it waits for its write: later, nothing of it would go on in the server."""
        victim = runs[0]
        if not victim.reached(step.mark, MARK_S):
            return False
        time.sleep(step.delay_s)
        at = time.time()
        self._strike()
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
        self._strike()
        try:
            os.kill(self.place.pid(name), signal.SIGKILL)
        except (ServiceError, ProcessLookupError):
            return False
        with self.source.through(name):
            next(s for s in self.place.services if s.name == name).start()
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
