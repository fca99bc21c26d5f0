"""The schema registry: which Avro schemas a topic's records were written with."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lakehouse_assets.services.registry import registered


@dataclass(frozen=True)
class Written:
    """A schema that records of a topic were written with, by its id in their first bytes."""

    id: int
    text: str

    @cached_property
    def schema(self) -> Any:
        """Names in it replaced by what they stand for."""
        from fastavro.schema import expand_schema

        return expand_schema(json.loads(self.text))

    def framed(self, end: bytes) -> str:
        """The schema of such a record with these bytes behind it: as `it` and `end`."""
        last = {"type": "fixed", "name": "End__", "size": len(end)}
        fields = [{"name": "it", "type": json.loads(self.text)}, {"name": "end", "type": last}]
        return json.dumps({"type": "record", "name": "Framed__", "fields": fields})


def versions(topic: str) -> list[Written]:
    """Every schema of the topic's values, newest first; none if nobody wrote to it."""
    return [Written(one["id"], one["schema"]) for one in registered(f"{topic}-value")]
