"""What a bench sends while it watches, and how what was waited for is told."""

import threading
from abc import abstractmethod
from typing import Any


class Feed(threading.Thread):
    """Events at a rate, until all are sent or it is told to stop. Subclass it with `send`, which
    counts in `sent` and looks at `is_over` before each.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.sent, self.error = 0, ""
        self._over = threading.Event()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    @abstractmethod
    def send(self) -> None: ...

    def run(self) -> None:
        try:
            self.send()
        except Exception as error:
            self.error = str(error)

    def stop(self) -> None:
        self._over.set()
        self.join()


def waits(ordered: list[float], never: int) -> dict[str, Any]:
    """The figures of seconds that were waited for; `never` of something they did in vain."""
    return {
        "p50_s": share(ordered, never, 0.50),
        "p95_s": share(ordered, never, 0.95),
        "max_s": share(ordered, never, 1),
        "never_visible": never,
    }


def share(ordered: list[float], never: int, share: float) -> float | None:
    """The seconds within which that share became visible; None: it never did, or nothing came.

    A record that never became visible waited longer than all the others.
    """
    place = min(int((len(ordered) + never) * share), len(ordered) + never - 1)
    return round(ordered[place], 2) if 0 <= place < len(ordered) else None
