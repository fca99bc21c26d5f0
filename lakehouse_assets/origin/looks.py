"""Looks at the capture: is the log let go of, do changes arrive, does the lake equal the shop."""

from collections.abc import Iterator
from typing import Any

from lakehouse_assets.lake.head import Head
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.news import News
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.looks.standing import Finding, Look
from lakehouse_assets.origin.heard import Heard
from lakehouse_assets.origin.log import Slot, slot
from lakehouse_assets.semantic.shop import Current
from lakehouse_assets.services.connectors import healths
from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.topics.kafka import Kafka, KafkaDown
from lakehouse_assets.topics.position import position, topic_of

SHOP = "storefront"  # the database, its slot and the prefix of its tables
MB = 2**20
KEPT_MB, KEPT_SHARE = 1_024, 0.25  # of log, without a bound; of what may be kept, with one
WAITING_MB = 64  # of log that is not captured
SILENT_S = 120  # without a heartbeat, of which there is one every 5 s, or a change
CAPTURED_S = 20  # until a change that was just made is
READ = 2_000  # rows at once
ANEW = f"`lakehouse connectors reset postgres-source-{SHOP}`, which reads all anew"


def looks_of(table: LakeTable) -> list[Look]:
    """Of a table that says what the shop has now."""
    if not issubclass(table.contract, Current):
        return []
    doc = equals_the_database.__doc__ or ""
    return [Look("equals_the_database", doc, equals_the_database, is_strict=True)]


def log_is_let_go(lake: Lake, table: LakeTable, head: Head) -> Finding:
    """The database keeps little of its log for the capture, far from where it would lose the rest
    and a new snapshot had to be taken.
    """
    found = slot(SHOP, SHOP)
    if found is None:
        return True, {"note": "nobody captures, so nothing is kept"}
    told = {"retained MB": found.retained // MB, "status": found.status}
    if found.left is not None:
        told["until it is lost MB"] = found.left // MB
    most = KEPT_MB * MB if found.left is None else KEPT_SHARE * (found.retained + found.left)
    if found.is_lost or found.retained > most:
        step = "`lakehouse connectors status`; if nobody shall capture any more, `delete`"
        return False, told | {"allowed MB": int(most) // MB} | _step(found, step)
    return True, told


def changes_arrive(lake: Lake, table: LakeTable, head: Head) -> Finding:
    """Somebody reads the database's log, is not far behind its end, and was heard of in Kafka a
    moment ago: quiet or not, a heartbeat comes every few seconds.
    """
    found = slot(SHOP, SHOP)
    step = "`lakehouse connectors status` tells why, `lakehouse up storefront` starts the capture"
    if found is None:
        return False, {"why": f"the database has no replication slot {SHOP}", "next step": step}
    told: dict[str, Any] = {"waiting MB": found.waiting / MB, "is read": found.is_read}
    is_heard = _is_heard(told)
    if found.is_read and found.waiting <= WAITING_MB * MB and is_heard:
        return True, told
    bounds = {"allowed MB": WAITING_MB, "allowed seconds": SILENT_S}
    return False, told | _troubles() | bounds | _step(found, step)


def _is_heard(told: dict[str, Any]) -> bool:
    """Tells since when nothing came."""
    try:
        silence_s = Heard().silence_s(SHOP)
    except KafkaDown as down:
        told["Kafka"] = str(down)
        return False
    told["seconds since anything came"] = "nothing ever" if silence_s is None else round(silence_s)
    return silence_s is not None and silence_s <= SILENT_S


def _troubles() -> dict[str, str]:
    """What Connect says is wrong, or that it says nothing."""
    try:
        return {health.name: health.trouble for health in healths().values() if health.trouble}
    except ServiceError as error:
        return {"Kafka Connect": f"does not answer: {error}"}


def _step(found: Slot, usual: str) -> dict[str, str]:
    if not found.is_gone:
        return {"next step": usual}
    why = f"the log that the slot {SHOP} stood for is gone: changes in it were never captured"
    return {"why": why, "next step": ANEW}


def equals_the_database(lake: Lake, table: LakeTable, head: Head) -> Finding:
    """The table and the shop's own have the same rows: their number and a hash of all they say."""
    from lakehouse_assets.sources.storefront.captured import wait_until_captured

    for _ in range(2):  # what differed may have been on its way
        told, is_equal = _compared(lake, table, lake.catalog.head(table.name))
        if is_equal:
            return True, told
        try:
            wait_until_captured(CAPTURED_S)
        except ServiceError as trouble:
            return False, told | {"why": str(trouble)}
        if waiting := _not_here(lake, table):
            return True, told | {"note": f"not judged, since the stream is not quiet: {waiting}"}
    return False, told | {"next step": _way_out(table, is_empty=not told["rows in the database"])}


def _way_out(table: LakeTable, is_empty: bool) -> str:
    anew = f"`lakehouse rebuild {table.name}`; if that changes nothing, "
    if is_empty:  # it has no row that a snapshot could tell
        name = table.name.removeprefix(f"semantic.{SHOP}_")
        return f"{anew}`truncate {name} cascade` there: it is empty, and that is then captured"
    return anew + ANEW


def _compared(lake: Lake, table: LakeTable, head: Head) -> tuple[dict[str, Any], bool]:
    import psycopg

    from lakehouse_assets.sources.storefront.truth import KEYS
    from lakehouse_assets.sources.storefront.truth.database import differences

    name = table.name.removeprefix(f"semantic.{SHOP}_")
    try:
        found = differences(name, _rows(lake, head, KEYS[table.name]))
    except psycopg.Error as error:
        raise ServiceError(
            f"{table.name} cannot be compared with the shop's own: {str(error).strip()}. Does the "
            "database run (`lakehouse up storefront`), and has it the columns of the contract?"
        ) from None
    told: dict[str, Any] = {
        "rows": found.held.rows, "rows in the database": found.shop.rows,
        "content": found.held.content[:16], "content in the database": found.shop.content[:16],
    }  # fmt: skip
    if not found.is_equal:
        counts = {"lacking": found.lacking, "twice": found.twice, "unexpected": found.unexpected,
                  "other content": found.other}  # fmt: skip
        told |= {what: count for what, count in counts.items() if count}
        told["examples"] = "; ".join(found.examples)
    return told, found.is_equal


def _rows(lake: Lake, head: Head, key: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """In key order; read without Spark."""
    stored = lake.catalog.load(head.name).scan(snapshot_id=head.snapshot_id).to_arrow()
    for batch in stored.sort_by([(name, "ascending") for name in key]).to_batches(READ):
        yield from batch.to_pylist()


def _not_here(lake: Lake, table: LakeTable) -> str:
    """What is on its way: in Kafka, or in a table before this one."""
    for parent in table.parents.values():
        if parent.topic:
            at = lake.catalog.head(parent.name)
            topic = topic_of(Kafka(), at, parent.topic)
            _, start = position(at, topic)
            if lag := sum(topic.latest[p] - offset for p, offset in start.items()):
                return f"{lag} offsets of {parent.topic} are unread"
        elif why := _not_here(lake, parent):
            return why
    is_behind = not table.topic and News(lake, table, lake.catalog.head(table.name)).is_any
    return f"{table.name} has not read all of its parents" if is_behind else ""
