"""What a server does not take for now is asked again, in bounds; all else is an error at once."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets.sources.asking import Line, Question
from lakehouse_assets.sources.event import NotTakenError
from lakehouse_assets_tests.sources.answering import Answer, Answers, answering
from lakehouse_assets_tests.support import lake_in


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[type[Answers]]:
    with lake_in(tmp_path), answering("weather") as server:
        yield server


def tell(patience_s: float = 60) -> list[int]:
    """The number of each attempt, for each is made anew."""
    attempts: list[int] = []

    def question() -> Question:
        attempts.append(len(attempts) + 1)
        return Question("GET", f"/log?attempt={attempts[-1]}")

    with Line("weather", "server", patience_s) as line:
        line.tell("Boston", question)
    return attempts


def test_who_is_asked_to_come_again_does_so_when_it_is_asked(ours: type[Answers]) -> None:
    ours.answers = [(429, {"Retry-After": "1"}, "{}"), (503, {}, "{}"), (200, {}, "{}")]
    began = time.monotonic()
    assert tell() == [1, 2, 3]
    assert 2 <= time.monotonic() - began < 10
    assert ours.asked == [f"/log?attempt={n}" for n in (1, 2, 3)]


@pytest.mark.parametrize("answer", [
    (400, {}, '{"error":"city_invalid","message":"not a city"}'),
    (401, {}, '{"error":"signature_mismatch","message":"not a city"}'),
    (503, {"Retry-After": "60"}, '{"error":"no_secret","message":"not a city"}'),
])  # fmt: skip
def test_what_no_patience_mends_is_an_error_at_once(ours: type[Answers], answer: Answer) -> None:
    ours.answers = [answer]
    told = rf"Boston: was answered with {answer[0]} by http.*not a city Look at `lakehouse logs we"
    with pytest.raises(NotTakenError, match=told):
        tell()
    assert len(ours.asked) == 1


def test_patience_has_an_end(ours: type[Answers]) -> None:
    ours.answers = [(503, {}, "Kafka is away")]
    with pytest.raises(NotTakenError, match=r"with 503 .* Kafka is away"):
        tell(patience_s=1.5)
    assert len(ours.asked) == 2


def test_no_server_is_an_error_that_says_how_to_start_it(tmp_path: Path) -> None:
    with lake_in(tmp_path), Line("weather", "server", patience_s=0) as line:
        with pytest.raises(NotTakenError, match=r"No server answers .*`lakehouse up weather"):
            line.require()
        with pytest.raises(NotTakenError, match="was not answered by http"):
            line.tell("Boston", lambda: Question("GET", "/"))
