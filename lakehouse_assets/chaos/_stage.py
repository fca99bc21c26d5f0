"""Where chaos happens: a lake with a stream of charges, its processes, the ways to kill them."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import islice

from lakehouse_assets.bench._lab import Lab, say
from lakehouse_assets.chaos._plan import CLIENT, KAFKA, RUN, SPARK, Step
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.sources.payments import Dirt, Event, charges
from lakehouse_assets.sources.produce import produce

RUN_S = 300  # a run that takes longer is hung; it is killed and counted
MARK_S = 240  # for a run to reach the point after which a server is killed
STREAM_S = 86_400  # the stream's events lie within the last day
MEANWHILE = 60  # records that are sent while a run is going on
OUTAGE = 40  # records that are sent while the broker is down
DIRT = Dirt(
    duplicate=0.05, redelivery=0.05, late=0.05, malformed=0.02, wrong_type=0.02, null_value=0.01,
    negative_amount=0.01, tie_event=0.01, tie_charge=0.01, unknown_field=0.02,
)  # fmt: skip


class Actor:
    """A process of `_actor`, listened to."""

    def __init__(self, role: str, kill_at: str = "") -> None:
        env = dict(os.environ) | ({"LAKEHOUSE_KILL_AT": kill_at} if kill_at else {})
        self.role, self.heard = role, list[str]()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lakehouse_assets.chaos._actor", role],
            env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._lines: queue.Queue[str] = queue.Queue()
        self._errors: list[str] = []
        self._listeners = [
            threading.Thread(target=self._listen, daemon=True),
            threading.Thread(target=self._listen_to_errors, daemon=True),
        ]
        for listener in self._listeners:
            listener.start()

    def _listen(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line.strip())

    def _listen_to_errors(self) -> None:
        for line in self._process.stderr or ():
            self._errors = [*self._errors[-400:], line.rstrip()]

    def reached(self, mark: str, timeout_s: float) -> bool:
        """Wait until it says that it is there; False if it ended or the time is up before."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            try:
                self.heard.append(self._lines.get(timeout=0.05))
                if self.heard[-1] == mark:
                    return True
            except queue.Empty:
                if self._process.poll() is not None:
                    return False
        return False

    def kill(self) -> bool:
        """-9; False if it had ended already."""
        was_alive = self._process.poll() is None
        self._process.kill()
        return was_alive

    def wait(self, timeout_s: float = RUN_S) -> int | None:
        """Its exit code; None if it had to be killed because it would not end."""
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()
            return None
        for listener in self._listeners:
            listener.join(5)
        while not self._lines.empty():
            self.heard.append(self._lines.get())
        return code

    def end(self) -> None:
        self._process.terminate()

    def last_words(self) -> str:
        """The error that ended it, without the stack traces around it."""
        starts = [n for n, line in enumerate(self._errors) if line.startswith("Traceback")]
        said = self._errors[starts[-1] if starts else 0 :]
        named = [line for line in said if re.match(r"[A-Za-z_][\w.]*: ", line)]
        return (named or said or ["(nothing)"])[0][:500]


class Stage:
    """The stream, the actors that live, and what happened to them."""

    def __init__(self, place: Lab, seed: int, records: int) -> None:
        self.place, self.sent = place, 0
        self.hung, self.failed = 0, 0
        self._actors: list[Actor] = []
        pace = timedelta(seconds=STREAM_S) / records
        start = datetime.now(timezone.utc) - timedelta(seconds=STREAM_S)
        self._stream: Iterator[Event] = charges(seed, records, start, DIRT, pace)

    def send(self, count: int) -> None:
        self.sent += produce(islice(self._stream, count))

    def start(self, role: str, kill_at: str = "") -> Actor:
        actor = Actor(role, kill_at)
        self._actors.append(actor)
        return actor

    def end_all(self) -> None:
        for actor in self._actors:
            actor.kill()
            actor.wait(10)

    def play(self, step: Step) -> bool:
        """One step; False if its kill came too late to hit anything."""
        self.send(step.burst)
        kill_at = step.mark if step.fault == RUN else ""
        runs = [self.start("run", kill_at) for _ in range(1 + step.is_doubled)]
        helpers = [self.start("compact")] if step.is_compacted else []
        self.send(MEANWHILE)
        if step.fault == RUN:  # of two runs the one that gets there, or both, one after the other
            hit = any(run.wait() == -signal.SIGKILL for run in runs)
        elif step.fault == CLIENT:
            hit = self._client(step, runs[0])
        else:
            hit = self._server(step, runs[0])
        struck = step.fault in (SPARK, KAFKA)
        for actor in [*runs, *helpers]:
            self.see_off(actor, is_victim=struck)
        return hit

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

    def _client(self, step: Step, victim: Actor) -> bool:
        if not victim.reached(step.mark, MARK_S):
            return False
        time.sleep(step.delay_s)
        return victim.kill()

    def _server(self, step: Step, victim: Actor) -> bool:
        """Killed whether the victim got so far or not, and started again as a person would."""
        name = step.fault
        victim.reached(step.mark, MARK_S)
        time.sleep(step.delay_s)
        try:
            os.kill(self.place.pid(name), signal.SIGKILL)
        except (ServiceError, ProcessLookupError):
            return False
        outage = threading.Thread(target=self.send, args=(OUTAGE,), daemon=True)
        if name == KAFKA:
            outage.start()
        next(s for s in self.place.services if s.name == name).start()
        if name == KAFKA:
            outage.join()
        return True
