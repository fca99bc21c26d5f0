"""The processes that chaos starts and kills: a run, a compaction, a neighbour in the catalog.

python -m lakehouse_assets.chaos._actor run|compact|neighbour
"""

import os
import signal
import sys
import time

from lakehouse_assets import settings
from lakehouse_assets.bench._lab import catch_up
from lakehouse_assets.commands.common import tables
from lakehouse_assets.lake.table import LakeTable

NEIGHBOUR = "other.notes"
ONLY = "LAKEHOUSE_CHAOS_ONLY"  # a table; '': all
SESSION, COMPACTED, REFUSED = "session ", "compacted ", "not compacted "  # what lines begin with
PAUSE_S, REST = 0.5, 9  # between a neighbour's commits, and how many times as long as one took
NEIGHBOUR_S = 4 * 3600  # it never outlives the longest session
GROUP = "LAKEHOUSE_CHAOS_GROUP"  # whose events the stage sends


def group() -> str:
    return os.environ.get(GROUP, "") or "payments"


def chosen() -> list[LakeTable]:
    """The tables that chaos is about, parents first: all of the group's and what is told of all, or
    those that one is made of.
    """
    ours = {t.name: t for t in tables().values() if t.group in (group(), "metadata")}
    if not (name := os.environ.get(ONLY, "")):
        return list(ours.values())
    wanted, more = set[str](), [ours[name]]
    while more:
        table = more.pop()
        wanted.add(table.name)
        more += [parent for parent in table.parents.values() if parent.name in ours]
    return [table for table in ours.values() if table.name in wanted]


def run() -> None:
    """The tables, as the run of a sensor takes them; says on standard output where it is."""
    from lakehouse_assets.lake import waypoint
    from lakehouse_assets.lake.lake import Lake

    pass_on = waypoint.passed

    def told(point: str, table: str) -> None:
        if point == "branch":  # what it asks of Spark next can be told from what others ask
            print(f"{SESSION}{getattr(lake.spark, 'session_id', '')}", flush=True)
        print(f"{point}@{table}", flush=True)
        pass_on(point, table)

    lake = Lake(run=f"chaos {os.getpid()}")
    waypoint.passed = told
    commits = catch_up(lake, chosen(), tend=True)
    print(f"done, {commits} commits", flush=True)
    lake.close()


def compact() -> None:
    """Every table's files written anew, whether they need it or not; says for each how it went."""
    from lakehouse_assets.lake.lake import Lake
    from lakehouse_assets.lineage.log import CommitLog
    from lakehouse_assets.lineage.rewriting import rewrite

    lake = Lake(run="chaos compaction")
    options = "map('rewrite-all', 'true', 'remove-dangling-deletes', 'true')"
    for name in [table.name for table in chosen()]:
        if not lake.catalog.exists(name):
            continue
        call = f"rewrite_data_files(table => '{name}', options => {options})"
        try:
            if CommitLog(name).last():  # as its maintenance would
                is_done = bool(rewrite(lake, lake.catalog.head(name), f"options => {options}"))
            else:
                done = lake.spark.sql(f"CALL {settings.CATALOG}.system.{call}").collect()
                is_done = bool(done and done[0]["rewritten_data_files_count"])
            if is_done:
                print(f"{COMPACTED}{name}", flush=True)
        except Exception as error:  # a writer that was faster, or a server that was killed
            print(f"{REFUSED}{name}: {str(error).splitlines()[0][:200]}", flush=True)
    lake.close()


def neighbour() -> None:
    """Commits to a table of its own, by pyiceberg, until it is told to end; says how many."""
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyiceberg.catalog.sql import SqlCatalog

    is_over: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: is_over.append(number))
    uri = f"{settings.catalog_uri()}?timeout=30"
    catalog = SqlCatalog(settings.CATALOG, uri=uri, warehouse=settings.warehouse())
    catalog.create_namespace_if_not_exists(NEIGHBOUR.split(".")[0])
    number = pa.schema([pa.field("number", pa.int64())])
    table = catalog.create_table_if_not_exists(NEIGHBOUR, number)
    parent, commits, deadline = os.getppid(), 0, time.monotonic() + NEIGHBOUR_S
    while not is_over and os.getppid() == parent and time.monotonic() < deadline:
        began = time.monotonic()
        table.append(pa.table({"number": [commits]}, schema=number))
        commits += 1
        time.sleep(max(PAUSE_S, REST * (time.monotonic() - began)))
    print(f"{commits}", flush=True)


if __name__ == "__main__":
    {"run": run, "compact": compact, "neighbour": neighbour}[sys.argv[1]]()
