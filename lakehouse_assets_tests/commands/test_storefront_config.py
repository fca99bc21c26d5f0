"""`lakehouse storefront-config`: a table of the shop, told from its schema, ready to read over."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.commands import storefront_config
from lakehouse_assets.lake.table import LakeTable
from lakehouse_assets.staging import storefront
from lakehouse_assets.staging.entries import BadTables, entries
from lakehouse_assets_tests.commands.looking import called, refused, register, said

DEBEZIUM = "io.debezium"
KNOWN = "storefront.public.returns"


def meaning(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "connect.name": f"{DEBEZIUM}.{name}", **more}


ALLOWED = {"connect.parameters": {"allowed": "asked,sent,refunded"}}
MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
VARIABLE = {"type": "record", "name": "Variable", "connect.name":
            f"{DEBEZIUM}.data.VariableScaleDecimal", "fields":
            [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}]}  # fmt: skip
FIELDS: dict[str, Any] = {
    "id": "long", "order_id": "long", "status": meaning("string", "data.Enum", **ALLOWED),
    "asked": meaning("string", "time.ZonedTimestamp"), "op": ["null", "string"],
    "closed_time": ["null", meaning("long", "time.MicroTimestamp")],
    "pickup_date": ["null", meaning("int", "time.Date")], "approved": "boolean",
    "email": ["null", "string"], "reason": meaning("string", "data.Json"), "weight": "float",
    "total": MONEY, "rate": VARIABLE, "tags": {"type": "array", "items": ["null", "string"]},
    "extras": {"type": "map", "values": "string"}, "label": ["null", "bytes"],
    "mark": meaning("string", "data.Uuid"),
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def captured(registry: None) -> None:
    """A table of every type, as the capture would have registered it."""
    row = record("Value", FIELDS)
    register(f"{KNOWN}-value", record("Envelope", {"before": ["null", row], "op": "string"}))
    register(f"{KNOWN}-key", record("Key", {"id": "long"}))
    register("storefront.public.keyless-value", record("Other", {"before": ["null", row]}))


def record(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    told = [{"name": n, "type": kind} for n, kind in fields.items()]
    return {"type": "record", "name": name, "namespace": name.lower(), "fields": told}


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """The YAML file and the raw file that are written."""
    for name in ("staging", "raw"):
        (tmp_path / name).mkdir()
    file = tmp_path / "staging" / storefront.FILE.name
    file.write_text(storefront.FILE.read_text())
    monkeypatch.setattr(storefront_config, "PACKAGE", tmp_path)
    yield file, tmp_path / "raw" / "storefront_returns.py"


def test_it_knows_the_file_that_staging_reads() -> None:
    assert storefront_config._places("returns")[0] == storefront.FILE


def test_an_entry_names_casts_and_keys_what_the_schema_tells(tmp_path: Path) -> None:
    (tmp_path / "made.yaml").write_text(said("storefront-config", "returns"))
    made = entries(tmp_path / "made.yaml")["returns"]
    assert (made.what, made.event_date) == ("a return", "asked_at")
    assert {n: (c.origin, c.type) for n, c in made.columns.items()} == {
        "return_id": ("id", "bigint"), "order_id": ("order_id", "bigint"),
        "status": ("status", "string"), "asked_at": ("asked", "timestamp"),
        "return_op": ("op", "string"), "closed_at": ("closed_time", "timestamp"),
        "pickup_on": ("pickup_date", "date"), "is_approved": ("approved", "boolean"),
        "email": ("email", "string"), "reason": ("reason", "string"),
        "weight": ("weight", "double"), "total": ("total", "decimal(12,2)"),
        "rate": ("rate", "struct<scale:int,value:binary>"), "tags": ("tags", "array<string>"),
        "label": ("label", "binary"), "mark": ("mark", "string"),
    }  # fmt: skip
    assert {n for n, c in made.columns.items() if c.nullable} == {
        "return_op", "closed_at", "pickup_on", "email", "label",
    }  # fmt: skip
    assert [n for n, c in made.columns.items() if c.key] == ["return_id"]
    assert [n for n, c in made.columns.items() if c.pii] == ["email"]
    assert made.columns["status"].doc == "asked, sent or refunded."


def test_guesses_and_what_cannot_be_taken_are_marked() -> None:
    done = called("storefront-config", "storefront.public.returns")
    lines = {line.split(":")[0].strip(): line for line in done.stdout.splitlines()}
    assert "# pii: a guess by its name" in lines["email"]
    assert "# extras" in lines and "stays in raw's _payload" in lines["# extras"]
    assert "without precision" in lines["rate"]
    assert "weight double" in done.stderr and "extras" not in done.stderr


def test_what_is_written_is_a_table_and_it_is_written_once(places: tuple[Path, Path]) -> None:
    file, raw = places
    told = said("storefront-config", "returns", "--write")
    assert "guessed: email" in told and "test_storefront_returns.py" in told
    assert entries(file).keys() == {*storefront.ENTRIES, "returns"}
    table, entry = made(raw), entries(file)["returns"]
    assert (table.topic, table.group) == (KNOWN, "storefront")
    contract = storefront.contract("returns", entry)
    assert contract.name == "staging.stg_storefront_returns" and "return_id" in contract.key()
    assert len(raw.read_text().splitlines()) == len(
        [line for line in raw.read_text().splitlines() if len(line) <= 100]
    )
    before = file.read_text()
    assert "has an entry returns already" in refused("storefront-config", "returns", "--write")
    assert file.read_text() == before


def made(raw: Path) -> LakeTable:
    code: dict[str, Any] = {"__name__": "lakehouse_assets.raw.storefront_returns"}
    exec(compile(raw.read_text(), str(raw), "exec"), code)
    table: LakeTable = code["storefront_returns"]
    return table


def test_a_raw_file_that_is_there_is_left_as_it_is(places: tuple[Path, Path]) -> None:
    file, raw = places
    raw.write_text("# mine")
    assert "compare its row with\n  id bigint, order_id bigint" in said(
        "storefront-config", "returns", "--write"
    )
    assert raw.read_text() == "# mine" and "returns" in entries(file)


def test_an_unknown_table_is_answered_with_the_nearest_and_how_to_capture_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = refused("storefront-config", "retuns")
    assert "Did you mean returns" in told and "REPLICA IDENTITY FULL" in told
    assert "add it to the publication" in told and "connectors reset" in told
    assert "has no primary key" in refused("storefront-config", "keyless")
    monkeypatch.setenv("LAKEHOUSE_REGISTRY", "http://127.0.0.1:1")
    assert "lakehouse up registry" in refused("storefront-config", "returns")


def test_a_mistake_in_the_file_is_told_in_one_line(places: tuple[Path, Path]) -> None:
    file, _ = places
    file.write_text("returns: {what: 1")
    with pytest.raises(BadTables):
        entries(file)
    assert "storefront_tables.yaml, line 1" in refused("storefront-config", "returns", "--write")
