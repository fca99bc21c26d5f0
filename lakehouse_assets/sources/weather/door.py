"""From a request to its answer: is that a reading, and is it in Kafka.

200 says that Kafka has acknowledged the reading; 503 with Retry-After that it has not, though it
may hold it: a client that asks again may have told it twice, since a reading has no id.
"""

import asyncio
import math
import re
import time
from datetime import datetime, timezone
from typing import Any
from urllib.parse import parse_qsl

import orjson

from lakehouse_assets.sources.weather import TOPIC, TOPIC_CONFIG
from lakehouse_assets.sources.weather.bounds import COLDEST, HOTTEST, MAX_CITY, NUMBER
from lakehouse_assets.sources.webhooks.door import ANSWERED_S, KAFKA_RETRY_S
from lakehouse_assets.sources.webhooks.limits import Room
from lakehouse_assets.sources.webhooks.refusal import Refused, later
from lakehouse_assets.sources.webhooks.sending import NotSent, Sender

MAX_QUERY = 8_192  # bytes; the longest city, escaped byte by byte, takes 3,060
MAX_PARAMETERS = 16
MAX_TEMPERATURE = 40  # characters
HOUR = "%Y-%m-%d-%H"


class Door:
    """One for a process; `open` binds it to the running event loop."""

    def __init__(self) -> None:
        self._room = Room()
        self._sender: Sender

    async def open(self) -> None:
        self._sender = Sender((TOPIC,), TOPIC_CONFIG)
        self._looking = asyncio.create_task(self._sender.look())

    async def close(self) -> None:
        self._looking.cancel()
        await self._sender.close()

    async def log(self, query: bytes) -> dict[str, Any]:
        """The seed's answer; raises Refused."""
        with self._room.place():
            said = parameters(query)
            city, temperature = checked_city(said), checked_temperature(said)
            at_ms = int(time.time() * 1000)
            moment = datetime.fromtimestamp(at_ms / 1000, timezone.utc)
            data = {"city": city, "temperature": temperature, "ts": f"{moment:{HOUR}}"}
            await self._deliver(city, orjson.dumps(data), at_ms)
        return {"status": "success", "message": "Weather data logged", "data": data}

    async def _deliver(self, city: str, value: bytes, at_ms: int) -> None:
        wait = self._sender.send(TOPIC, city, value, at_ms)
        await asyncio.wait((wait,), timeout=ANSWERED_S)
        failure = wait.exception() if wait.done() else NotSent("it has not told in time")
        if isinstance(failure, NotSent):
            raise later(
                503, "kafka_away", "Kafka has not acknowledged it: send it again.", KAFKA_RETRY_S
            ) from failure


def parameters(query: bytes) -> dict[str, str]:
    if len(query) > MAX_QUERY:
        raise Refused(400, "query_too_long", f"A query may have {MAX_QUERY:,} bytes.")
    try:
        pairs = parse_qsl(
            query.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS
        )
    except UnicodeDecodeError:
        raise Refused(400, "not_utf8", "Parameters must be UTF-8, percent-encoded.") from None
    except ValueError:
        raise Refused(
            400, "too_many_parameters", f"At most {MAX_PARAMETERS} parameters."
        ) from None
    for name in ("city", "temperature"):
        if (told := sum(name == key for key, _ in pairs)) != 1:
            how = "is missing" if not told else f"is given {told} times"
            raise Refused(400, f"{name}_wanted_once", f"The parameter {name} {how}: "
                          "/log?city=Boston&temperature=72.5")  # fmt: skip
    return dict(pairs)


def checked_city(said: dict[str, str]) -> str:
    """As it is written, whatever it means elsewhere."""
    city = said["city"]
    if not 1 <= len(city) <= MAX_CITY or "\0" in city:
        raise Refused(400, "city_invalid", f"city must have 1 to {MAX_CITY} characters, none of"
                      f" them NUL; this one has {len(city)}.")  # fmt: skip
    return city


def checked_temperature(said: dict[str, str]) -> str:
    """As it is written, too."""
    text = said["temperature"]
    is_number = len(text) <= MAX_TEMPERATURE and re.fullmatch(NUMBER, text)
    value = float(text) if is_number else math.nan
    if not COLDEST <= value <= HOTTEST:
        raise Refused(400, "temperature_invalid", "temperature must be a finite number between"
                      f" {COLDEST} and {HOTTEST}, in °F.")  # fmt: skip
    return text
