"""Every table's head, of which only those are read that have moved since the last look."""

from contextlib import suppress
from pathlib import Path

from pyiceberg.catalog.sql import IcebergTables
from sqlalchemy import select

from lakehouse_assets import settings
from lakehouse_assets.lake.catalog import Catalog, NoTable
from lakehouse_assets.lake.head import Head

STORED = (IcebergTables.table_namespace, IcebergTables.table_name, IcebergTables.metadata_location)


class Heads:
    """Kept with the place of the metadata that they were read from, which no change leaves."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._kept: dict[str, tuple[str, Head]] = {}

    def now(self) -> dict[str, Head]:
        if not _is_made():
            return {}
        ours = select(*STORED).where(IcebergTables.catalog_name == settings.CATALOG)
        with self._catalog.iceberg.engine.connect() as connection:
            places = {f"{space}.{name}": str(at) for space, name, at in connection.execute(ours)}
        for name in [name for name in self._kept if name not in places]:
            del self._kept[name]
        for name, place in sorted(places.items()):
            if name not in self._kept or self._kept[name][0] != place:
                with suppress(NoTable):  # without our stamp, or dropped meanwhile
                    self._kept[name] = place, self._catalog.head(name)
        return {name: head for name, (_, head) in self._kept.items()}


def _is_made() -> bool:
    """Opening a catalog's file would make one."""
    uri = settings.catalog_uri()
    if not uri.startswith(settings.SQLITE):
        return True
    return Path(uri.removeprefix(settings.SQLITE).split("?")[0]).exists()
