"""What the door answers to a request that it does not take: a status, a code, and what to do.

The texts are ours alone. Nothing of a request's body or headers is repeated in them, and of a
secret no more than the name of its variable.
"""

from collections.abc import Mapping

import orjson


class Refused(Exception):
    """A request that is not taken; of a batch nothing is."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status, self.code, self.message = status, code, message
        self.headers = dict(headers or {})

    def body(self) -> bytes:
        return orjson.dumps({"error": self.code, "message": self.message})


def later(status: int, code: str, message: str, seconds: int) -> Refused:
    """Not now: every vendor sends again what was not answered with 2xx."""
    return Refused(status, code, message, {"Retry-After": str(seconds)})
