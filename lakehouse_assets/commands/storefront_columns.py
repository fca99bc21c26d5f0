"""A captured table's columns, as its schemas in the registry tell them: what raw takes, what
staging makes of it, and a first phrase about each.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lakehouse_assets.lake.schema import SchemaRefused, iceberg_type
from lakehouse_assets.staging.storefront import ChangeLog
from lakehouse_assets.topics.avro import spark_type

# What a value means, where its type alone does not tell: Debezium's names, and what staging makes
# of them.
MEANT = {
    "io.debezium.time.Date": "date",
    "io.debezium.time.ZonedTimestamp": "timestamp",
    "io.debezium.time.MicroTimestamp": "timestamp",
}
SAID = {
    "io.debezium.data.Json": "{Words}; JSON.",
    "io.debezium.data.Uuid": "{Words}, a UUID.",
    "io.debezium.time.MicroTime": "{Words}, a time of day in microseconds.",
    "io.debezium.time.ZonedTime": "{Words}, a time of day with its zone.",
    "io.debezium.time.MicroDuration": "{Words}, in microseconds.",
}
VARIABLE = "io.debezium.data.VariableScaleDecimal"
ENDS = {"timestamp": ("_at", ("_date", "_time", "_on", "_ts")), "date": ("_on", ("_date", "_at"))}
# Parts of names that often tell of a person.
PRIVATE = {
    "email", "mail", "phone", "mobile", "fax", "street", "birth", "birthday", "born", "dob", "ssn",
    "passport", "iban", "bic", "card", "ip", "note", "notes", "comment", "comments", "message",
    "details", "password", "surname", "firstname", "lastname", "fullname", "contact", "recipient",
    "postal", "postcode", "zip", "latitude", "longitude",
}  # fmt: skip
PERSONS = re.compile(r"(first|last|full|given|family|middle|maiden|user|contact|recipient)_name")
BORN = ("created", "inserted", "placed", "ordered", "registered", "booked", "opened", "started")
NOT_BORN = re.compile("updated|modified|changed|deleted|synced|expire|valid")


@dataclass(frozen=True)
class Column:
    """`row`: as what raw takes it, '' if it cannot; `remark`: what to look at."""

    name: str
    origin: str
    row: str
    type: str
    doc: str
    key: bool
    nullable: bool
    pii: bool
    remark: str


def columns(table: str, value: Any, key: Any) -> list[Column]:
    """Of the schemas of its changes and of their keys."""
    keys = {one["name"] for one in key["fields"]} if key else set()
    (row,) = [f["type"] for f in value["fields"] if f["name"] == "before"]
    found: list[Column] = []
    for field in _some(row)["fields"]:
        taken = {*ChangeLog.columns, *[one.name for one in found]}
        found.append(_column(singular(table), field, field["name"] in keys, taken))
    return found


def singular(table: str) -> str:
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"),
                            ("shes", "sh"), ("ss", "ss"), ("s", "")):  # fmt: skip
        if table.endswith(ending):
            return table.removesuffix(ending) + instead
    return table


def born(found: list[Column]) -> str:
    """The timestamp that tells the day of a change: one that is always there and never moves, as
    its name has it; '' if there is none.
    """
    fit = [one.name for one in found if one.row and one.type == "timestamp" and not one.nullable]
    fit = [name for name in fit if not NOT_BORN.search(name)]
    return min(fit, key=lambda name: [*(w in name for w in BORN), True].index(True), default="")


def _column(thing: str, field: Any, key: bool, taken: set[str]) -> Column:
    avro, origin = _some(field["type"]), field["name"]
    meaning = avro.get("connect.name", "") if isinstance(avro, dict) else ""
    row = row_type(avro)
    kind = MEANT.get(meaning, row)
    name = _name(thing, origin, kind, taken)
    private = kind not in ("boolean", "timestamp") and _is_private(origin)
    nullable = isinstance(field["type"], list)
    doc = _doc(thing, name, origin, kind, meaning, avro)
    return Column(name, origin, row, kind, doc, key, nullable, private,
                  "; ".join(_remarks(name, kind, row, meaning, private, avro)))  # fmt: skip


def _remarks(
    name: str, kind: str, row: str, meaning: str, private: bool, avro: Any
) -> Iterator[str]:
    if not row:
        yield f"no column: raw has no type for {spark_type(avro)}; it stays in raw's _payload"
    if private:
        yield "pii: a guess by its name"
    if meaning == VARIABLE:
        yield "a numeric without precision: give it one in the shop"
    if meaning == "io.debezium.time.Timestamp":
        yield "in milliseconds: let the capture send microseconds, and cast it to timestamp"
    if "amount" in name and not kind.startswith("decimal"):
        yield "an amount is a decimal here, or ends in _minor"


def row_type(avro: Any) -> str:
    """As what raw takes a value; '' if it has no type for it."""
    avro = _some(avro)
    if isinstance(avro, dict) and avro["type"] == "record":
        parts = [(one["name"], row_type(one["type"])) for one in avro["fields"]]
        known = all(kind for _, kind in parts)
        return f"struct<{','.join(f'{n}:{k}' for n, k in parts)}>" if known else ""
    if isinstance(avro, dict) and avro["type"] == "array":
        inner = row_type(avro["items"])
        return f"array<{inner}>" if inner and spark_type(avro["items"]) != "float" else ""
    kind = "double" if spark_type(avro) == "float" else spark_type(avro)
    try:
        iceberg_type(kind)
    except (SchemaRefused, ValueError):
        return ""
    return kind


def _some(avro: Any) -> Any:
    """Without the null of a union."""
    some = [one for one in avro if one != "null"] if isinstance(avro, list) else [avro]
    return some[0] if len(some) == 1 else avro


def _name(thing: str, origin: str, kind: str, taken: set[str]) -> str:
    """As names are here: what it is the number of, instants in _at, days in _on, is_ for a fact."""
    name = f"{thing}_id" if origin == "id" else origin
    if kind in ENDS and not name.endswith(ENDS[kind][0]):
        ending, others = ENDS[kind]
        bare = next((name.removesuffix(o) for o in others if name.endswith(o)), name)
        name = bare + ending
    if kind == "boolean" and not name.startswith("is_"):
        name = f"is_{name.removeprefix('has_')}"
    if name in taken:
        name = f"is_{thing}_{name[3:]}" if kind == "boolean" else f"{thing}_{name}"
    return name


def _is_private(origin: str) -> bool:
    parts = origin.lower().split("_")
    return parts[-1] != "id" and bool(PRIVATE & {*parts} or PERSONS.fullmatch(origin.lower()))


def _doc(thing: str, name: str, origin: str, kind: str, meaning: str, avro: Any) -> str:
    """A phrase to begin with."""
    words = origin.replace("_", " ")
    if origin == "id":
        return f"The shop's number of the {thing.replace('_', ' ')}."
    if origin == "created_at":
        return "When it was made, UTC."
    if origin == "updated_at":
        return "When the shop last changed the row, UTC."
    if allowed := _allowed(avro):
        return f"{' or '.join([', '.join(allowed[:-1]), allowed[-1]][-len(allowed):])}."
    if meaning in SAID:
        return SAID[meaning].format(Words=words[:1].upper() + words[1:])
    if kind == "timestamp":
        return f"When it was {name.removesuffix('_at').replace('_', ' ')}, UTC."
    if kind == "date":
        return f"Day on which it is {name.removesuffix('_on').replace('_', ' ')}."
    if kind == "boolean":
        return f"Whether it is {name.removeprefix('is_').replace('_', ' ')}."
    if origin.endswith("_id"):
        return f"Number of its {words.removesuffix(' id')}."
    return f"The shop's {words}{', in units' if kind.startswith('decimal') else ''}."


def _allowed(avro: Any) -> list[str]:
    """An enum's values."""
    told = avro.get("connect.parameters", {}) if isinstance(avro, dict) else {}
    return [value for value in told.get("allowed", "").split(",") if value]
