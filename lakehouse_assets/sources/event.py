"""What every generator makes: an event, ready for Kafka, that says what was planted in it."""

from datetime import date, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

CLEAN = "clean"
SHIFT = timedelta(hours=6)  # live feeds that begin within one tell of the same world

_DAY_MS = 86_400_000
_UNIX_EPOCH = date(1970, 1, 1)
_ODD = 0x9E3779B97F4A7C15  # any odd factor maps 64-bit numbers one to one, so ids stay unique
_MASK = 0xFFFFFFFFFFFFFFFF


class NotTakenError(RuntimeError):
    """Who should have taken what a generator sent did not; the message says what to do."""


class Event(NamedTuple):
    """One Kafka record to be; `kind` names the dirt planted in it and never reaches Kafka."""

    key: bytes | None
    value: bytes | None
    topic: str
    kind: str
    made_ms: int = 0  # the instant it is made at, by which sending is paced
    at_ms: int = 0  # the record's timestamp, in a topic that keeps the producer's; 0: when sent


def token(*parts: object) -> str:
    """Eight hex digits that set the ids of one generator run apart from those of another."""
    return blake2b(repr(parts).encode(), digest_size=4).hexdigest()


def scatter(serial: int) -> str:
    """Sixteen hex digits, others for each serial number, and in no order."""
    return f"{serial * _ODD & _MASK:016x}"


def begin_of_shift(now: datetime) -> datetime:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + (now - midnight) // SHIFT * SHIFT


def iso_ms(epoch_ms: int) -> str:
    """ISO 8601 in UTC with milliseconds; several times faster than datetime.isoformat."""
    days, ms = divmod(epoch_ms, _DAY_MS)
    seconds, ms = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    return f"{_day(days)}T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{ms:03}Z"


@lru_cache(maxsize=1024)
def _day(days: int) -> str:
    return (_UNIX_EPOCH + timedelta(days=days)).isoformat()
