"""Signed requests through the door into Kafka, and what a broker's death costs.

Another process sends: every connection waits for its answer before it sends the next. First without
disturbance, which gives the rate and the times; then Kafka is killed (-9) and started again under
the same load. At the end the topics are read: each event that was answered with 200 must be there.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from confluent_kafka import Consumer, Message, TopicPartition

from lakehouse_assets import settings
from lakehouse_assets.bench._lab import Lab, Meter, doing, lab, say
from lakehouse_assets.bench._vendors import SECRET
from lakehouse_assets.commands.readback import ends
from lakehouse_assets.services.kafka import Kafka
from lakehouse_assets.services.webhooks import Webhooks
from lakehouse_assets.sources.produce import MAX_RECORD_BYTES, ensure_topic
from lakehouse_assets.sources.webhooks.vendors import TOPICS, VENDORS

STOP_S = 30  # for the sender to end
READ_S = 60  # for the topics to be read
BATCH = 10_000


def run(
    seconds: float = 15.0, connections: int = 24, bytes: int = 2_000, after: float = 4.0
) -> dict[str, Any]:
    """Send for so many seconds, then on through Kafka's death and for `after` seconds more.

    `bytes`: of each body. A warm-up of 3 s is not counted. All requests come from one address, so
    that address's rate is not limited here.
    """
    there = {v.secret: SECRET for v in VENDORS} | {"LAKEHOUSE_WEBHOOKS_PER_S": "1000000"}
    with lab(Kafka()) as place, settings.environment(there):
        door = Webhooks()
        place.services.append(door)
        for topic in TOPICS:
            ensure_topic(topic)  # which the door would do as soon as it sees Kafka
        with doing("starting the door"):
            door.start()
        return measure(place, seconds, connections, bytes, after)


def measure(
    place: Lab, seconds: float, connections: int, size: int, after: float, warmup: float = 3.0
) -> dict[str, Any]:
    """The same on services that run already."""
    file = place.folder / "heard.json"
    port = settings.port("webhooks")
    command = [sys.executable, "-m", "lakehouse_assets.bench._vendors"]
    args = [str(port), str(connections), str(size), str(file)]
    env = dict(os.environ, PYTHONPATH=str(settings.ROOT))
    with subprocess.Popen([*command, *args], stdin=subprocess.PIPE, env=env) as sender:
        time.sleep(warmup)
        began = time.time()
        with Meter(place.pid("webhooks")) as meter:
            time.sleep(seconds)
        ended = time.time()
        with doing("Kafka is killed and comes back"):
            psutil.Process(place.pid("kafka")).kill()
            next(s for s in place.services if s.name == "kafka").start()
        time.sleep(after)
        sender.communicate(timeout=STOP_S)  # which closes its stdin
    if sender.returncode:
        raise RuntimeError(f"the sender ended with {sender.returncode}; what it wrote is above")
    heard = json.loads(Path(file).read_text())
    with doing("reading what Kafka holds"):
        held = Counter(json.loads(r.value() or b"")["_webhook_id"] for r in records())
    return _told(heard, began, ended, held) | {
        "door_cpu_share": round(meter.cpu_s / meter.wall_s, 2),
        "connections": connections,
        "body_bytes": size,
    }


def _told(
    heard: dict[str, Any], began: float, ended: float, held: Counter[str]
) -> dict[str, Any]:
    times = sorted(took for at, took, _ in heard["answers"] if began <= at < ended)
    acknowledged = {known for _, _, known in heard["answers"]}
    result = {
        "requests_per_s": round(len(times) / (ended - began)),
        "p50_ms": _share(times, 0.50),
        "p99_ms": _share(times, 0.99),
        "acknowledged": len(acknowledged),
        "acknowledged_missing": len(acknowledged - held.keys()),
        "in_kafka": held.total(),
        "in_kafka_twice": sum(n > 1 for n in held.values()),
        "refused_while_away": heard["refused"],
        "broken": heard["broken"],
    }
    say(f"{result['requests_per_s']:,} requests/s, {result['p50_ms']} ms (p50), "
        f"{result['p99_ms']} ms (p99); {result['acknowledged']:,} acknowledged, "
        f"{result['acknowledged_missing']} of them missing")  # fmt: skip
    return result


def _share(ordered: list[float], share: float) -> float | None:
    place = min(int(len(ordered) * share), len(ordered) - 1)
    return round(ordered[place], 1) if ordered else None


def records() -> Iterator[Message]:
    """All that the door's topics hold now, read side by side; no offset is ever skipped there."""
    wanted = ends(TOPICS)
    left = sum(wanted.values())
    consumer = Consumer({
        "bootstrap.servers": settings.kafka_bootstrap(), "group.id": "lakehouse-webhooks-read",
        "enable.auto.commit": False, "fetch.message.max.bytes": MAX_RECORD_BYTES, "log_level": 2,
    })  # fmt: skip
    consumer.assign([TopicPartition(*place, 0) for place in wanted])
    deadline = time.monotonic() + READ_S
    while left > 0:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{left:,} records could not be read within {READ_S} s")
        for message in consumer.consume(min(left, BATCH), timeout=0.2):
            if not message.error():
                left -= 1
                yield message
    consumer.close()
