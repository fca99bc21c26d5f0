"""When a change of the shop was first to be seen in the table of what is there now.

While the work goes on only the moments are noted at which a new snapshot of such a table was first
met on main. Afterwards the rows of each are read, by pyiceberg: a change can be seen as soon as its
row stands there as of this change or a later one, or is gone after it was there. No stamp, offset
or clock of the lake is asked.
"""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from pyiceberg.exceptions import NoSuchTableError

from lakehouse_assets.commands.compare import catalog
from lakehouse_assets.sources.storefront.truth import CURRENT
from lakehouse_assets.sources.storefront.truth.logged import Key, Logged
from lakehouse_assets.sources.storefront.truth.shape import TABLES

POLL_S = 0.25

DELETED = "d"

Held = dict[Key, int]  # by key, as of which place in the database's log


class Sighting(NamedTuple):
    at: float  # epoch seconds
    snapshot: int


class Seen(NamedTuple):
    """`short_lived`: changes of rows that were gone again before anybody could have seen them."""

    arrived: list[tuple[Logged, float]]
    never: list[Logged]
    short_lived: list[Logged]


class Lookout(threading.Thread):
    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.sightings = defaultdict[str, list[Sighting]](list)  # by table of the shop
        self._over = threading.Event()

    def run(self) -> None:
        tables = catalog()
        while not self._over.wait(POLL_S):
            for name, table in CURRENT.items():
                with suppress(NoSuchTableError):
                    main = tables.load_table(table).metadata.current_snapshot_id
                    seen = self.sightings[name]
                    if main is not None and (not seen or seen[-1].snapshot != main):
                        seen.append(Sighting(time.time(), main))

    def stop(self) -> None:
        self._over.set()
        self.join()

    def seen(self, changes: Iterable[Logged]) -> Seen:
        """Of each change, if and when."""
        of_table = defaultdict[str, list[Logged]](list)
        for change in changes:
            of_table[change.table].append(change)
        total = Seen([], [], [])
        for name, theirs in of_table.items():
            for whole, part in zip(total, _seen(theirs, self._states(name)), strict=True):
                whole += part  # type: ignore[operator]
        return total

    def _states(self, name: str) -> Iterator[tuple[float, Held]]:
        table, key = catalog().load_table(CURRENT[name]), TABLES[name].key
        for at, snapshot in self.sightings[name]:
            found = table.scan(snapshot_id=snapshot, selected_fields=(*key, "lsn")).to_arrow()
            keys = zip(*(found.column(part).to_pylist() for part in key), strict=True)
            yield at, dict(zip(keys, found.column("lsn").to_pylist(), strict=True))


def _seen(changes: Iterable[Logged], states: Iterable[tuple[float, Held]]) -> Seen:
    """In one table, whose states are told one after the other."""
    left = defaultdict[Key, deque[Logged]](deque)
    for change in sorted(changes, key=lambda change: change.lsn):
        left[change.key].append(change)
    found, were_there = Seen([], [], []), set[Key]()
    for at, held in states:
        for key in list(left):
            waiting, there = left[key], held.get(key)
            told = _told(waiting, there, key in were_there)
            found.arrived.extend((waiting.popleft(), at) for _ in range(told))
            (were_there.discard if there is None else were_there.add)(key)
            if not waiting:
                del left[key]
    for key, waiting in left.items():
        is_short = waiting[-1].op == DELETED and key not in were_there
        (found.short_lived if is_short else found.never).extend(waiting)
    return found


def _told(waiting: Sequence[Logged], there: int | None, was_there: bool) -> int:
    """How many of a key's next changes a state tells, in which it is as of `there`, or is not."""
    if there is not None:
        return sum(change.lsn <= there for change in waiting)
    ends = (n for n, change in enumerate(waiting, 1) if change.op == DELETED)
    return next(ends, 0) if was_there else 0
