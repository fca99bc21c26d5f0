"""The webhooks' bench at a small size: its fields, and that nothing acknowledged is missing."""

import time

from lakehouse_assets.bench import webhooks


def test_kafka_is_killed_under_load_and_nothing_acknowledged_is_missing() -> None:
    result = webhooks.run(seconds=1, connections=4, after=1)
    assert result["acknowledged_missing"] == 0
    assert result["in_kafka"] >= result["acknowledged"] > 50
    assert all(result[name] > 0 for name in ("requests_per_s", "p50_ms", "p99_ms"))


def test_figures_are_of_the_undisturbed_time_and_what_is_missing_is_counted() -> None:
    now = time.time()
    answers = [[now + n, 10.0 * n, f"evt_{n}"] for n in range(10)]
    heard = {"answers": answers, "refused": 3, "broken": 0}
    held = webhooks.Counter({f"evt_{n}": 1 for n in range(9)} | {"evt_0": 2, "evt_x": 1})
    told = webhooks._told(heard, now + 2, now + 6, held)
    assert (told["requests_per_s"], told["p50_ms"], told["p99_ms"]) == (1, 40.0, 50.0)
    assert (told["acknowledged"], told["acknowledged_missing"]) == (10, 1)
    assert (told["in_kafka"], told["in_kafka_twice"]) == (11, 1)
