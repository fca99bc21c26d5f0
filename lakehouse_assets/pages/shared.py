"""One look for all who ask: however many watch a page, what it shows is asked for once."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

K = TypeVar("K")
T = TypeVar("T")
KEPT = 32  # questions


class Looking(Exception):
    """The first look is not over yet; ask again in a moment."""


@dataclass(frozen=True)
class Seen(Generic[T]):
    """What was found, and when: `at` in epoch seconds."""

    value: T
    at: float


class Shared(Generic[T]):
    """At most one look at a time, none more often than every `fresh_s`. Whoever asks waits for a
    look that is under way, but `patience_s` at most: then the one before it must do. For the first
    one, before which there is none, it may be `first_s`.
    """

    def __init__(
        self, look: Callable[[], T], fresh_s: float, patience_s: float, first_s: float = 0
    ) -> None:
        self._look, self._fresh_s, self._patience_s = look, fresh_s, patience_s
        self._first_s = first_s or patience_s
        self._seen: Seen[T] | None = None
        self._task: asyncio.Task[Seen[T]] | None = None

    async def seen(self) -> Seen[T]:
        if self._seen and time.time() - self._seen.at < self._fresh_s:
            return self._seen
        task = self._task
        if task is None:
            task = self._task = asyncio.create_task(asyncio.to_thread(self._find))
        await asyncio.wait({task}, timeout=self._patience_s if self._seen else self._first_s)
        if task.done():
            if self._task is task:
                self._task = None
            self._seen = task.result()  # or its error, to all who waited
        if self._seen is None:
            raise Looking("The first look is still going on. Try again in a moment.")
        return self._seen

    def _find(self) -> Seen[T]:
        return Seen(self._look(), time.time())


class SharedBy(Generic[K, T]):
    """The same of a question with a detail: who ask alike share a look; the last KEPT are kept."""

    def __init__(self, look: Callable[[K], T], fresh_s: float, patience_s: float) -> None:
        self._look, self._bounds = look, (fresh_s, patience_s)
        self._by: OrderedDict[K, Shared[T]] = OrderedDict()

    async def seen(self, detail: K) -> Seen[T]:
        shared = self._by.pop(detail, None) or Shared(partial(self._look, detail), *self._bounds)
        self._by[detail] = shared
        while len(self._by) > KEPT:
            self._by.popitem(last=False)
        return await shared.seen()


class Paced(Generic[T]):
    """Asks at most every `every_s`, and tells the last answer between. For one thread at a time."""

    def __init__(self, ask: Callable[[], T], every_s: float) -> None:
        self._ask, self._every_s = ask, every_s
        self._answer: tuple[float, T] | None = None

    def __call__(self) -> T:
        if self._answer is None or time.monotonic() - self._answer[0] >= self._every_s:
            self._answer = time.monotonic(), self._ask()
        return self._answer[1]
