"""What one Kafka record of the weather must become in raw, by the json module alone.

Strict on purpose: a record is one JSON object in UTF-8, or an error. All its columns are text and
take whatever stands there: of what is no text its JSON, of fractions the nearest double.
"""

import json
from typing import Any

from lakehouse_assets.sources.oracle import (
    INVALID_UTF8,
    MALFORMED,
    NULL_VALUE,
    Parsed,
    no_constant,
)

Row = dict[str, Any]

COLUMNS = ("city", "temperature", "ts")


def parse(value: bytes | None) -> Parsed:
    nothing: Row = dict.fromkeys(COLUMNS)
    if value is None:
        return Parsed(NULL_VALUE, nothing, False)
    try:
        read = json.loads(value.decode(), parse_constant=no_constant)
    except UnicodeDecodeError:
        return Parsed(INVALID_UTF8, nothing, False)
    except (ValueError, RecursionError):
        return Parsed(MALFORMED, nothing, False)
    if not isinstance(read, dict):
        return Parsed(MALFORMED, nothing, False)
    row = {name: _text(read.get(name)) for name in COLUMNS}
    return Parsed(None, row, bool(read.keys() - {*COLUMNS}))


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
