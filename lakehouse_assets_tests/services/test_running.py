"""Stopping what a command started, however hard it is made."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer

import psutil
import pytest
from rich.console import Console

from lakehouse_assets.commands import running
from lakehouse_assets.services.host import ServiceError, alive
from lakehouse_assets_tests.services.listener import Listener

ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Other(Listener):
    """One that is stopped first, as dependants are."""

    name = "generate-other"
    port_names = ("spark",)


@pytest.fixture
def started(lake: Path) -> Iterator[list[Listener]]:
    services = [Listener(), Other("deaf")]
    yield services
    for service in services:
        Listener.stop(service)


def start(services: list[Listener]) -> list[psutil.Process]:
    for service in services:
        assert service.start()
    return [psutil.Process(service.status().pid) for service in services]


def test_a_broken_pipe_does_not_end_the_stopping(
    started: list[Listener], subprocess_env: Callable[[], dict[str, str]]
) -> None:
    processes = start(started)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "lakehouse_assets_tests.services.test_running"],
        env=subprocess_env(), stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE,
        text=True, timeout=60,
    )  # fmt: skip
    os.close(writer)
    assert done.stderr == "2 stopped\n"
    assert not any(alive(p) for p in processes)


def test_nothing_cuts_the_stopping_off(started: list[Listener]) -> None:
    processes = start(started)
    timers = [Timer(0.2, os.kill, (os.getpid(), number)) for number in ALL]
    before = [signal.getsignal(number) for number in ALL]
    with running.interruptible():
        for timer in timers:
            timer.start()
        assert running.stop(started, Console(quiet=True)) == 2  # the deaf one takes a second
    assert not any(timer.is_alive() for timer in timers)
    assert not any(alive(p) for p in processes)
    assert [signal.getsignal(number) for number in ALL] == before


def test_one_that_cannot_be_stopped_is_told_after_the_others_are(
    started: list[Listener], monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = start(started)

    def hanging() -> bool:
        raise ServiceError("is its disk hanging?")

    monkeypatch.setattr(started[1], "stop", hanging)
    with pytest.raises(ServiceError, match="disk hanging"):
        running.stop(started, Console(quiet=True))
    assert not alive(processes[0]) and alive(processes[1])


def test_a_closed_terminal_ends_like_ctrl_c_but_not_under_nohup(
    subprocess_env: Callable[[], dict[str, str]],
) -> None:
    code = (
        "import os, signal\n"
        "from lakehouse_assets.commands.running import interruptible\n"
        "with interruptible():\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "print('went on')"
    )
    # Whoever runs the tests may have said nohup, which is inherited.
    default = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    told = [
        subprocess.run(
            [*nohup, sys.executable, "-c", code if nohup else default + code],
            env=subprocess_env(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=30,
        )
        for nohup in ([], ["nohup"])
    ]  # fmt: skip
    assert "KeyboardInterrupt" in told[0].stderr
    assert told[1].stdout.strip() == "went on"


if __name__ == "__main__":
    print(running.stop([Listener(), Other()], Console(force_terminal=True)), "stopped",
          file=sys.stderr)  # fmt: skip
