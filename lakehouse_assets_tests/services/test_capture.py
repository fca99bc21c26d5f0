"""When the watcher tries again; that it does, test_connect.py shows with the real thing."""

import itertools

import pytest

from lakehouse_assets.services import capture, connectors
from lakehouse_assets.services.capture import CHECK_S, LONGEST_PAUSE_S, Watch
from lakehouse_assets.services.connectors import Health
from lakehouse_assets.services.host import ServiceError

WELL = Health("c", "RUNNING", ("RUNNING",))
ILL = Health("c", "RUNNING", ("FAILED",), "out of luck")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def restarts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    done: list[str] = []
    monkeypatch.setattr(connectors, "restart", lambda name, only_failed: done.append(name))
    return done


def seen(watch: Watch, clock: Clock, health: Health, restarts: list[str], until: int) -> list[int]:
    """The seconds in which it was restarted, looked at each second."""
    found = []
    while clock.now < until:
        before = len(restarts)
        watch.look(health)
        found += [int(clock.now)] * (len(restarts) - before)
        clock.now += 1
    return found


def test_pauses_grow_to_a_bound_and_are_short_again_once_it_ran_a_while(
    restarts: list[str],
) -> None:
    clock = Clock()
    watch = Watch("c", is_described=False, clock=clock)
    first = seen(watch, clock, ILL, restarts, 600)
    pauses = [b - a for a, b in itertools.pairwise(first)]
    assert first[0] == 0 and pauses == [2, 4, 8, 16, 32, 64, *[LONGEST_PAUSE_S] * 3]
    seen(watch, clock, WELL, restarts, 610)
    assert seen(watch, clock, ILL, restarts, 620) == [610]  # it ran for seconds only
    seen(watch, clock, WELL, restarts, 700)
    assert seen(watch, clock, ILL, restarts, 704) == [700, 702]


def test_it_goes_on_until_it_is_registered_and_leaves_a_deleted_one_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: list[ServiceError | bool] = [ServiceError("no publication"), True, False]
    asked: list[float] = []
    clock = Clock()

    def register(name: str) -> bool:
        asked.append(clock.now)
        if isinstance(answer := answers[min(len(asked), 3) - 1], ServiceError):
            raise answer
        return answer

    monkeypatch.setattr(capture.connectors, "register", register)
    watch = Watch("c", is_described=True, clock=clock)
    for second in range(int(CHECK_S) * 3):
        clock.now = second
        watch.look(WELL if second < 100 and asked[1:] else None)
    assert asked == [0, 3, 63]
    assert [line.split(" ", 1)[1] for line in capsys.readouterr().out.splitlines()] == [
        "c: not as described: no publication", "c: registered", "c: runs",
    ]  # fmt: skip
