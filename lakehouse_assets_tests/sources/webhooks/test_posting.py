"""Sending as the vendors do: to a door of our own making, and through the real one into Kafka."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from time import perf_counter

import pytest

from lakehouse_assets import settings
from lakehouse_assets.commands.readback import ends, read_back
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.webhooks import Webhooks, signing
from lakehouse_assets.sources.event import NotTakenError
from lakehouse_assets.sources.produce import PACE_S
from lakehouse_assets.sources.webhooks import FIRST_DAY, Dirt, Request, requests
from lakehouse_assets.sources.webhooks.delivered import records
from lakehouse_assets.sources.webhooks.posting import LANES, post
from lakehouse_assets.sources.webhooks.vendors import TOPICS
from lakehouse_assets_tests.sources.answering import Answers, answering
from lakehouse_assets_tests.support import lake_in

KEYS = {"shopify": b"one", "stripe": b"two", "hubspot": b"three"}


@pytest.fixture
def door(tmp_path: Path) -> Iterator[type[Answers]]:
    with lake_in(tmp_path), answering("webhooks") as server:
        yield server


def some(count: int = 60, **more: timedelta) -> list[Request]:
    return list(requests(3, count, FIRST_DAY, Dirt.only(), **more))


def test_every_request_is_sent_once_and_those_about_one_thing_in_order(door: type[Answers]) -> None:
    made = some(300)
    assert post(made, KEYS) == 300
    assert Counter(body for _, _, body in door.taken) == Counter(r.body for r in made)
    for about in {r.about for r in made}:
        ours = [r.body for r in made if r.about == about]
        assert [body for _, _, body in door.taken if body in ours] == ours
    names = {name for _, headers, _ in door.taken for name in headers}
    assert {"X-Shopify-Hmac-Sha256", "Stripe-Signature", "X-HubSpot-Signature-v3"} <= names


def test_the_first_that_is_refused_ends_it_and_what_waits_is_dropped(door: type[Answers]) -> None:
    door.answers = [(401, {}, '{"error":"signature_mismatch","message":"not that of this body"}')]
    with pytest.raises(NotTakenError, match=r", webhook .*with 401 by http.*not that of this body"):
        post(some(2_000), KEYS)
    assert len(door.asked) < 2_000


def test_a_rate_spreads_the_requests_over_time(door: type[Answers]) -> None:
    made = some(51, interval=timedelta(milliseconds=20))
    began = perf_counter()
    post(made, KEYS, paced_from=FIRST_DAY)
    assert perf_counter() - began >= 1.0 - PACE_S


def test_no_door_is_an_error_that_says_how_to_start_it(tmp_path: Path) -> None:
    with lake_in(tmp_path), pytest.raises(NotTakenError, match="lakehouse up webhooks"):
        post(some(1), KEYS)


@pytest.fixture(scope="module")
def real_door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with lake_in(tmp_path_factory.mktemp("lake") / "a lake"):
        services = [Kafka(), Webhooks()]
        try:
            for service in services:
                service.start()
            yield
        finally:
            for service in reversed(services):
                service.stop()


def test_what_the_door_takes_is_in_kafka_as_it_was_sent(real_door: None) -> None:
    made = list(requests(8, 3_000, FIRST_DAY, Dirt(redelivery=0)))
    began = perf_counter()
    assert post(made, signing()) == len(made)
    print(f"\n{len(made) / (perf_counter() - began):,.0f} requests/s over {LANES} connections")

    def plain(value: bytes | None) -> str:
        said = json.loads(value or b"")
        return json.dumps({**said, "_received_at": None}, sort_keys=True)

    become, looked_at = list(records(made)), ("shopify.orders", "hubspot.contacts")
    assert sum(ends(TOPICS).values()) == len(become)
    sent = Counter((e.topic, e.key, plain(e.value)) for e in become if e.topic in looked_at)
    kept = Counter((r.topic, r.key, plain(r.value)) for r in read_back(looked_at))
    assert kept == sent


def test_the_generator_runs_alone_and_says_how_to_repeat_it(real_door: None) -> None:
    before = sum(ends(TOPICS).values())
    begin = ["--seed", "5", "--start", "2026-01-01T00:00:00Z", "--rate", "0", "--count", "200"]
    done = subprocess.run(
        [sys.executable, "-m", "lakehouse_assets.sources.webhooks", *begin, "--only", "hubspot",
         "--dirt", "redelivery=0"],
        capture_output=True, text=True, timeout=60, cwd=settings.ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    again = "--seed 5 --rate 0 --start 2026-01-01T00:00:00+00:00 --count 200 --only hubspot"
    assert again in done.stderr
    dirt = Dirt(redelivery=0)
    made = list(requests(5, 200, FIRST_DAY, dirt, only=["hubspot"]))
    assert sum(ends(TOPICS).values()) == before + sum(len(r.ids) for r in made)
