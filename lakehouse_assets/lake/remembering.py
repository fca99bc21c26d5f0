"""pyiceberg's catalog, which parses a version of a table's metadata once a process.

A run looks at each table some twenty times, a sensor at each all day, and with hundreds of
snapshots a look is 30 ms of parsing. A metadata file never changes; only where the newest one lies
has to be asked each time.
"""

from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

TABLES = 500  # whose newest versions are remembered
_seen: dict[str, Table] = {}  # by where a table keeps its metadata


class Remembering(SqlCatalog):
    def _convert_orm_to_iceberg(self, orm_table: Any) -> Table:
        location = str(orm_table.metadata_location)
        place = location.rpartition("/")[0]
        if (seen := _seen.get(place)) is None or seen.metadata_location != location:
            if len(_seen) >= TABLES:
                _seen.clear()
            seen = _seen[place] = super()._convert_orm_to_iceberg(orm_table)
        return Table(seen.name(), seen.metadata, location, seen.io, self)
