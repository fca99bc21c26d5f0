"""A process that chaos started: listened to, killed, waited for."""

import os
import queue
import re
import subprocess
import sys
import threading
import time

from lakehouse_assets.chaos._actor import SESSION

RUN_S = 300  # a run that takes longer is hung; it is killed and counted


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

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def session(self) -> str:
        """Its session on the Spark server; empty before it wrote anything."""
        told = [line.removeprefix(SESSION) for line in self.heard if line.startswith(SESSION)]
        return told[-1] if told else ""

    def has_said(self, mark: str) -> bool:
        while not self._lines.empty():
            self.heard.append(self._lines.get())
        return mark in self.heard

    def reached(self, mark: str, timeout_s: float) -> bool:
        """Wait until it says that it is there; False if it ended or the time is up before."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            try:
                self.heard.append(self._lines.get(timeout=0.02))
                if self.heard[-1] == mark:
                    return True
            except queue.Empty:
                if not self.is_alive:
                    return False
        return False

    def kill(self) -> bool:
        """-9; False if it had ended already."""
        was_alive = self.is_alive
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
        self.has_said("")
        return code

    def end(self) -> None:
        self._process.terminate()

    def last_words(self) -> str:
        """The error that ended it, without the stack traces around it."""
        starts = [n for n, line in enumerate(self._errors) if line.startswith("Traceback")]
        said = self._errors[starts[-1] if starts else 0 :]
        named = [line for line in said if re.match(r"[A-Za-z_][\w.]*: ", line)]
        return (named or said or ["(nothing)"])[0][:500]
