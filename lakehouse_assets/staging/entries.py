"""`storefront_tables.yaml`, read and judged: what is wrong is told with its line and column."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.reader import ReaderError

from lakehouse_assets.lake.schema import SchemaRefused, iceberg_type

OF_ENTRY = {"what": str, "event_date": str, "columns": dict}
OF_COLUMN = {"from": str, "type": str, "doc": str, "key": bool, "nullable": bool, "pii": bool}


class BadTables(Exception):
    """What is wrong, and where."""


@dataclass(frozen=True)
class Declared:
    """A column: its type and meaning, and what the shop calls it."""

    type: str
    doc: str
    origin: str
    key: bool
    nullable: bool
    pii: bool
    place: str  # line and column in the file

    def wrong(self, what: str) -> BadTables:
        return BadTables(f"{self.place}: {what}")


@dataclass(frozen=True)
class Entry:
    """A table: what a row tells of, its columns, and which of them tells the day of a change."""

    what: str
    event_date: str
    columns: dict[str, Declared]


def entries(file: Path) -> dict[str, Entry]:
    data = file.read_bytes()
    try:
        root = yaml.compose(data.decode(), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        place = _at(file.name, data[: error.start].decode())
        raise BadTables(f"{place}: byte {data[error.start]:#04x} is no UTF-8") from error
    except ReaderError as error:
        place = _at(file.name, data.decode()[: error.position])
        what = f"the character U+{error.character:04X} is not allowed"
        raise BadTables(f"{place}: {what}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = _place(file.name, mark) if mark else file.name
        raise BadTables(f"{place}: {error.problem}") from error
    return _Reader(file.name).tables(root)


def _at(name: str, before: str) -> str:
    """Where that text ends."""
    lines = before.replace("\r\n", "\n").split("\n")
    return f"{name}, line {len(lines)}, column {len(lines[-1]) + 1}"


def _place(name: str, mark: yaml.Mark) -> str:
    return f"{name}, line {mark.line + 1}, column {mark.column + 1}"


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name

    def tables(self, root: yaml.Node | None) -> dict[str, Entry]:
        if root is None:
            raise BadTables(f"{self._name}: it is empty")
        return {name: self._entry(name, node) for name, node in self._parts(root, "it").items()}

    def _entry(self, table: str, node: yaml.Node) -> Entry:
        parts = self._parts(node, table, OF_ENTRY, ("what", "columns"))
        columns = self._parts(parts["columns"], f"{table}.columns")
        found = {name: self._column(f"{table}.{name}", name, n) for name, n in columns.items()}
        if not any(c.key for c in found.values()):
            raise self._wrong(parts["columns"], f"{table}: no column is a key")
        told = parts.get("event_date")
        day = self._value(told, f"{table}.event_date", str) if told else ""
        if told and (day not in found or found[day].type != "timestamp"):
            known = ", ".join(n for n, c in found.items() if c.type == "timestamp")
            what = f"{table}.event_date: {day} is no timestamp of it; there are: {known or 'none'}"
            raise self._wrong(told, what)
        return Entry(self._value(parts["what"], f"{table}.what", str), day, found)

    def _column(self, path: str, name: str, node: yaml.Node) -> Declared:
        parts = self._parts(node, path, OF_COLUMN, ("type", "doc"))
        said = {n: self._value(v, f"{path}.{n}", OF_COLUMN[n]) for n, v in parts.items()}
        try:
            iceberg_type(said["type"])
        except SchemaRefused as error:
            raise self._wrong(parts["type"], f"{path}.type: {error}") from error
        key, nullable, pii = (bool(said.get(flag)) for flag in ("key", "nullable", "pii"))
        return Declared(
            said["type"].replace(" ", ""), said["doc"], said.get("from", name), key, nullable, pii,
            _place(self._name, node.start_mark),
        )  # fmt: skip

    def _parts(
        self, node: yaml.Node, path: str, known: Collection[str] = (), needed: Collection[str] = ()
    ) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            raise self._wrong(node, f"{path} must be names with what they mean")
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = str(key.value)
            if known and name not in known:
                raise self._wrong(key, f"{path}: there is no {name}; known: {', '.join(known)}")
            if name in found:
                raise self._wrong(key, f"{path}: {name} stands there twice")
            found[name] = value
        if missing := [name for name in needed if name not in found]:
            raise self._wrong(node, f"{path}: {missing[0]} is missing")
        return found

    def _value(self, node: yaml.Node, path: str, kind: type) -> Any:
        value = yaml.safe_load(yaml.serialize(node))
        if not isinstance(value, kind):
            raise self._wrong(node, f"{path}: {value!r} is no {kind.__name__}")
        return value

    def _wrong(self, node: yaml.Node, what: str) -> BadTables:
        return BadTables(f"{_place(self._name, node.start_mark)}: {what}")
