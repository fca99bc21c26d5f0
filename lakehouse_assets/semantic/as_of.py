"""semantic.as_of: one row per lake: the day as of which it tells what changes as time
goes by.

"Days since the last order" is another number tomorrow, though nothing happens. Tables with such a
column have this one as a parent, so that a new day reaches them as any other news does, once, and
they stay functions of their parents. It is told anew by the first run of each day, UTC.
"""

from lakehouse_assets.lake.contract import Layout, Table, column, recompute_all
from lakehouse_assets.lake.table import LakeTable


class AsOf(Table):
    as_of_on = column("date", "The day, UTC.", key=True)

    layout = Layout(scope=recompute_all())


as_of = LakeTable(AsOf, "webhooks", daily=lambda day: [{"as_of_on": day}])
