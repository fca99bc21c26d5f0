"""The verdicts of the last 30 days, by check and day, from `metadata.check_history` and, for what
that has not been told yet, from the tallies in the tables' heads.

The history is a log: what is read of it once is kept. The first looks read a long one day by day,
newest first, each for READ_S at most; later ones read only what was added.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.contract import COMMIT
from lakehouse_assets.lake.head import Head
from lakehouse_assets.metadata.check_history import history

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

NAME = "metadata.check_history"
DAYS = 30
AT_ONCE = 300_000  # rows of a history that is so short that it is read in one go
READ_S = 1.5  # of one look; a day that was begun is read to its end
COLUMNS = ("table", "check", "verdict", "at", COMMIT)
Place = tuple[str, str]  # table, check


@dataclass
class Day:
    """One check's verdicts of one day, UTC, and since when it failed at the end of it."""

    passed: int = 0
    failed: int = 0
    last_passed: datetime | None = None
    failing_since: datetime | None = None  # the first failure after that

    def add_passed(self, count: int, newest: datetime) -> None:
        self.passed += count
        if self.last_passed is None or newest > self.last_passed:
            self.last_passed = newest
        if self.failing_since is not None and self.failing_since <= self.last_passed:
            self.failing_since = None

    def add_failed(self, at: datetime) -> None:
        self.failed += 1
        if self.last_passed is None or at > self.last_passed:
            self.failing_since = min(self.failing_since or at, at)


class Past:
    """Kept in this process, day by day."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._forget()

    def _forget(self) -> None:
        self._days: dict[date, dict[Place, Day]] = {}
        self._made: tuple[int, int] | None = None  # epoch, and the commit that the days tell of

    def days(self, heads: dict[str, Head]) -> tuple[dict[date, dict[Place, Day]], bool]:
        """Newest day first, and whether all of them have been read."""
        today = datetime.now(timezone.utc).date()
        wanted = [today - timedelta(days=n) for n in range(DAYS)]
        consumed: dict[str, int] = {}
        if head := heads.get(NAME):
            self._read(head, wanted)
            consumed = {name: commit for name, (commit, _) in head.stamp.progress.items()}
        shown = {day: dict(self._days.get(day, {})) for day in wanted}
        _add_untold(shown, heads, consumed)
        is_whole = self._made is None or all(day in self._days for day in wanted)
        return shown, is_whole

    def _read(self, head: Head, wanted: list[date]) -> None:
        begin = time.monotonic()
        if self._made is None or self._made[0] != head.stamp.epoch:
            self._forget()
            self._made = head.stamp.epoch, head.stamp.commit
        epoch, known = self._made
        if head.stamp.commit > known:
            oldest = min(self._days, default=wanted[0])
            news = f"{COMMIT} > {known} and at >= {_midnight(oldest)}"
            _count(self._days, self._scan(head, news))
            self._made = epoch, head.stamp.commit
        for day in [d for d in self._days if d not in wanted]:
            del self._days[day]
        if not self._days and head.rows <= AT_ONCE:
            self._days = {day: {} for day in wanted}
            _count(self._days, self._scan(head, f"at >= {_midnight(wanted[-1])}"))
        for day in [d for d in wanted if d not in self._days]:
            if time.monotonic() - begin > READ_S:
                break
            self._read_day(head, day)

    def _read_day(self, head: Head, day: date) -> None:
        found: dict[date, dict[Place, Day]] = {day: {}}
        end = _midnight(day + timedelta(days=1))
        within = f"at >= {_midnight(day)} and at < {end}"
        _count(found, self._scan(head, within))
        self._days[day] = found[day]

    def _scan(self, head: Head, where: str) -> "Iterator[pa.Table]":
        import pyarrow as pa

        stored = self._catalog.load(NAME)
        scan = stored.scan(where, selected_fields=COLUMNS, snapshot_id=head.snapshot_id)
        for batch in scan.to_arrow_batch_reader():
            yield pa.Table.from_batches([batch])


def _count(days: dict[date, dict[Place, Day]], batches: "Iterator[pa.Table]") -> None:
    """Passed ones are counted by Arrow, there being many; failed ones one by one, at the end, since
    batches come in no order.
    """
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    failed: list[dict[str, Any]] = []
    for rows in batches:
        day = pc.cast(pc.floor_temporal(rows["at"], unit="day"), "date32")
        rows, good = rows.append_column("day", day), pc.equal(rows["verdict"], "passed")
        by = rows.filter(good).group_by(["table", "check", "day"])
        for one in by.aggregate([("at", "count"), ("at", "max")]).to_pylist():
            place = one["table"], one["check"]
            _day(days, one["day"], place).add_passed(one["at_count"], one["at_max"])
        failed += rows.filter(pc.invert(good)).to_pylist()
    for one in failed:
        _day(days, one["day"], (one["table"], one["check"])).add_failed(one["at"])


def _add_untold(
    days: dict[date, dict[Place, Day]], heads: dict[str, Head], consumed: dict[str, int]
) -> None:
    """On copies: the history will tell of them, too."""
    mine = set[tuple[date, Place]]()
    told: list[dict[str, Any]] = sorted(history(heads, consumed), key=lambda row: str(row["at"]))
    for row in told:
        day, place = row["at"].date(), (row["table"], row["check"])
        if day not in days:
            continue
        if (day, place) not in mine:
            mine.add((day, place))
            kept = days[day].get(place, Day())
            days[day][place] = Day(**vars(kept))
        if row["verdict"] == "passed":
            days[day][place].add_passed(1, row["at"])
        else:
            days[day][place].add_failed(row["at"])


def since(days: dict[date, dict[Place, Day]], place: Place) -> datetime | None:
    """Since when a check that fails now has failed without a pass, as far as the days tell."""
    found = None
    for day in sorted(days, reverse=True):
        one = days[day].get(place)
        if one is None:
            continue
        if one.failing_since is not None:
            found = one.failing_since
        if one.last_passed is not None:
            break
    return found


def totals(days: dict[date, dict[Place, Day]]) -> dict[Place, Counter[str]]:
    found: dict[Place, Counter[str]] = defaultdict(Counter)
    for of_day in days.values():
        for place, day in of_day.items():
            found[place].update(passed=day.passed, failed=day.failed)
    return found


def _day(days: dict[date, dict[Place, Day]], day: date, place: Place) -> Day:
    return days.setdefault(day, {}).setdefault(place, Day())


def _midnight(day: date) -> str:
    return f"'{day.isoformat()}T00:00:00+00:00'"
