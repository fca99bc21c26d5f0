"""Starting entries of storefront_tables.yaml beside the ones that people wrote."""

from pathlib import Path

from lakehouse_assets.commands.storefront_columns import columns
from lakehouse_assets.commands.storefront_config import entry, row, schema
from lakehouse_assets.staging.entries import Entry, entries
from lakehouse_assets.staging.storefront import ENTRIES, TABLES


def starting_entries_are_ours(file: Path) -> None:
    """Each as the registry's newest schema tells it; a guess may call more private, never less."""
    for name, ours in ENTRIES.items():
        found = columns(name, schema(name, "value"), schema(name, "key"))
        file.write_text(entry(name, found))
        made = entries(file)[name]
        assert made.event_date == ours.event_date
        assert _shape(made) == _shape(ours)
        assert [n for n, c in ours.columns.items() if c.pii and not made.columns[n].pii] == []
        (raw,) = TABLES[name].parents.values()
        assert row(found) == vars(raw.contract)["row"]


def _shape(entry: Entry) -> dict[str, tuple[object, ...]]:
    return {n: (c.origin, c.type, c.key, c.nullable) for n, c in entry.columns.items()}
