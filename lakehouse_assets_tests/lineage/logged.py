"""A bare table with a commit log, how tests feed it, and a process that dies while it does."""

import sys

from lakehouse_assets.lake.contract import Layout, Table, column
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lake.publish import Published
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets_tests.lake.tables import DAY, add


class Logged(Table, name="bare.logged"):
    """bare.logged: one row per number; each attempt to add some is written down."""

    seq = column("int", "Which.", key=True)
    at = column("timestamp", "When, UTC.")
    checkpoint_id = column("bigint", "The attempt that published it.", nullable=True)
    layout = Layout(partitioned_by="days(at)")
    commit_log = True


LOGGED = LakeTable(Logged, "bare")


def put(lake: Lake, *numbers: int) -> Published:
    return add(lake, LOGGED, *[{"seq": n, "at": DAY} for n in numbers])


if __name__ == "__main__":
    put(Lake(run="killed"), *map(int, sys.argv[1:]))
