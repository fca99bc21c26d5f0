"""What news upstream touches here: spans of time by which both tables skip files, and the keys
within them.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, cast

from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.head import Stamp

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MAX_SPANS = 100  # more than this are widened to days, then to one span
MAX_KEYS = 100_000  # that are fetched; a few news can touch very many rows
HOUR, DAY = timedelta(hours=1), timedelta(days=1)

Span = tuple[datetime, datetime]  # from, up to but not including; UTC


def touched(catalog: Catalog, parent: str, after: int) -> tuple[str, list[Span]] | None:
    """The column and spans in which a parent changed since a commit, if all its commits tell."""
    commits, complete = catalog.commits(parent, after)
    columns = {c.at for c in commits}
    if not complete or len(columns) != 1 or "" in columns or any(c.ranges is None for c in commits):
        return None
    spans = [
        (datetime.fromisoformat(a), datetime.fromisoformat(b))
        for c in commits
        for a, b in c.ranges or []
    ]
    return columns.pop(), merge(spans)


def spans_of(frame: "DataFrame", at: str) -> list[Span]:
    """The hours of `at` that occur in a frame: one small query."""
    rows = frame.selectExpr(f"{_hour(at)} as h").distinct().collect()
    return _hours([row["h"] for row in rows])


def fetched(
    spark: "SparkSession", keys: "DataFrame", names: tuple[str, ...], at: str, mark: str = "false"
) -> "tuple[DataFrame, list[Span], bool] | None":
    """The keys as rows that are here already, the hours of `at` in which they lie, and whether
    `mark` holds for one of them; None if they are too many for that.
    """
    hour = _hour(at) if at else "cast(null as string)"
    columns = [*[f"`{n}`" for n in names], f"{hour} as h", f"{mark} as m"]
    wanted = keys.selectExpr(*columns).distinct()
    # As toArrow() does, which asks the server for the types before.
    rows = cast(Any, wanted.limit(MAX_KEYS + 1))._to_table()[0]
    if rows.num_rows > MAX_KEYS:
        return None
    alone = rows.group_by(list(names)).aggregate([])  # a key may lie in several hours
    here = spark.createDataFrame(alone) if rows.num_rows else keys.limit(0)
    return here, _hours(rows["h"].to_pylist()), any(rows["m"].to_pylist())


def _hour(at: str) -> str:
    """SQL: the hour, as text: a timestamp would arrive in this machine's time zone."""
    # Spark's time is longer than Python's: what is beyond either end is taken to lie at that end.
    bounded = f"least(greatest(`{at}`, timestamp'0001-01-01'), timestamp'9999-12-31 23:00:00')"
    hour = f"date_format(date_trunc('hour', {bounded}), \"yyyy-MM-dd'T'HH:mm:ss\")"
    return f"if(`{at}` is null, null, {hour})"


def _hours(starts: Iterable[str | None]) -> list[Span]:
    hours = [datetime.fromisoformat(start) for start in starts if start]
    return merge([(hour, _later(hour, HOUR)) for hour in hours])


def merge(spans: Iterable[Span]) -> list[Span]:
    """Sorted, joined where they touch, and few: widening reads more and never misses a row."""
    joined = _joined(spans)
    if len(joined) > MAX_SPANS:
        joined = whole_days(joined)
    if len(joined) > MAX_SPANS:
        joined = [(joined[0][0], joined[-1][1])]
    return joined


def _joined(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def whole_days(spans: Iterable[Span]) -> list[Span]:
    last = timedelta(microseconds=1)
    return _joined((_midnight(a), _later(_midnight(b - last), DAY)) for a, b in spans)


def widened(spans: Iterable[Span], before: timedelta, after: timedelta) -> list[Span]:
    return _joined((_earlier(a, before), _later(b, after)) for a, b in spans)


def _later(moment: datetime, step: timedelta) -> datetime:
    """Up to the end of time, which some producers use as a date."""
    return moment + step if moment < datetime.max - step else datetime.max


def _earlier(moment: datetime, step: timedelta) -> datetime:
    return moment - step if moment > datetime.min + step else datetime.min


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def within(column: str, spans: list[Span]) -> str:
    """SQL: the column lies in one of the spans, or nowhere. Literals, so that files are skipped."""
    return _either(f"`{column}`", "timestamp", spans)


def within_days(column: str, spans: list[Span]) -> str:
    """SQL: the date column is one of the spans' days, or none."""
    return _either(f"`{column}`", "date", whole_days(spans))


def _either(column: str, kind: str, spans: list[Span]) -> str:
    ranges = [_between(column, kind, a, b) for a, b in spans]
    return " or ".join([*ranges, f"{column} is null"])


def _between(column: str, kind: str, start: datetime, end: datetime) -> str:
    """The ends of Python's time are no bounds."""
    spelled = [str(m.date()) if kind == "date" else m.isoformat() for m in (start, end)]
    bounds = [f"{column} >= {kind}'{spelled[0]}'"] if start > datetime.min else []
    bounds += [f"{column} < {kind}'{spelled[1]}'"] if end < datetime.max else []
    return f"({' and '.join(bounds) or 'true'})"


def iso(moment: datetime) -> str:
    return naive(moment).isoformat()


def naive(moment: datetime) -> datetime:
    return moment.astimezone(timezone.utc).replace(tzinfo=None) if moment.tzinfo else moment


def as_ranges(spans: list[Span]) -> list[list[str]]:
    return [[a.isoformat(), b.isoformat()] for a, b in spans]


def next_stamp(before: Stamp, **changes: object) -> Stamp:
    fresh: dict[str, object] = {"commit": before.commit + 1, "corrects": False}
    return replace(before, **(fresh | changes))  # type: ignore[arg-type]
