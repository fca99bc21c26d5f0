"""A plain client of the logging server, and what became of its requests in Kafka."""

import json
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any

from lakehouse_assets import settings
from lakehouse_assets.commands.readback import read_back
from lakehouse_assets.sources.oracle import Delivered
from lakehouse_assets.sources.weather import TOPIC


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        return json.loads(self.body)


def get(path: str, method: str = "GET") -> Answer:
    connection = HTTPConnection("127.0.0.1", settings.port("weather"), timeout=30)
    try:
        connection.request(method, path)
        found = connection.getresponse()
        headers = {name.lower(): value for name, value in found.getheaders()}
        return Answer(found.status, headers, found.read())
    finally:
        connection.close()


def records(city: str) -> list[Delivered]:
    """Those of a city."""
    return [r for r in read_back([TOPIC]) if r.key == city.encode()]
