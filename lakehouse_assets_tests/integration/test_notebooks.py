"""The notebooks of deploy/notebooks, each run from its first cell to its last in a process of its
own, on a small shop's tables.
"""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from lakehouse_assets import settings
from lakehouse_assets.commands.common import tables
from lakehouse_assets.lake.catalog import Catalog
from lakehouse_assets.lake.schema import iceberg_schema
from lakehouse_assets_tests.support import lake_in

FOLDER = settings.ROOT / "deploy" / "notebooks"
FILES = sorted(FOLDER.glob("*.ipynb"))
Row = dict[str, Any]

# What a kernel does: cells in order, in one namespace; the last expression of each is shown.
KERNEL = """
import ast, json, sys
shown, here = [], {"__name__": "__main__"}
for cell in json.load(sys.stdin):
    *body, last = ast.parse(cell).body
    is_shown = isinstance(last, ast.Expr)
    exec(compile(ast.Module(body + [last] * (not is_shown), []), "cell", "exec"), here)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), here) if is_shown else None
    shown.append("" if value is None else str(value))
print(json.dumps(shown))
"""
NOON = datetime(2026, 5, 4, 12, tzinfo=timezone.utc)  # a Monday
LATER = NOON + timedelta(hours=2)
TOPIC = "storefront.public.orders"


def day(on: date, category: str | None, net: int) -> Row:
    money = {n: Decimal(net) for n in ("gross_amount", "net_amount", "average_order_amount")}
    return {"ordered_on": on, "category": category, "currency": "EUR", "orders": 1, "items": 2,
            "cancelled_orders": 0, "cancelled_amount": Decimal(0), **money}  # fmt: skip


def buyer(number: int, segment: str, net: int, currency: str | None = "EUR") -> Row:
    return {"customer_id": number, "segment": segment, "currency": currency, "orders": net // 10,
            "net_amount": Decimal(net), "cancelled_share": 0.0 if currency else None,
            "last_order_at": NOON if currency else None}  # fmt: skip


def change(lsn: int, op: str, status: str) -> Row:
    return {"order_id": 7, "customer_id": 1, "op": op, "status": status, "total": Decimal("9.50"),
            "currency": "EUR", "lsn": lsn, "created_at": NOON, "event_date": NOON.date(),
            "changed_at": NOON + timedelta(minutes=lsn), "event_date_source": "created_at"}


def version(segment: str, since: datetime, until: datetime | None) -> Row:
    return {"customer_id": 1, "segment": segment, "country": "DE", "valid_from_at": since,
            "valid_to_at": until, "is_current": until is None, "is_deleted": False}  # fmt: skip


SHOP: dict[str, list[Row]] = {
    "marts.storefront_sales_daily": [
        day(NOON.date(), "Tea", 20), day(NOON.date() + timedelta(days=6), "Tea", 22),
        day(NOON.date() + timedelta(days=7), None, 5),
    ],
    "marts.storefront_customer_lifetime": [
        buyer(1, "vip", 40), buyer(2, "vip", 60), buyer(3, "new", 0, None),
    ],
    "semantic.storefront_orders": [
        change(1, "", "paid") | {"order_id": 6}, change(9, "", "shipped"),
    ],
    "staging.stg_storefront_orders": [
        change(3, "c", "pending"), change(5, "u", "paid"), change(9, "u", "shipped"),
        change(1, "c", "paid") | {"order_id": 6},
    ],
    "semantic.storefront_customer_history": [
        version("new", NOON - timedelta(days=9), LATER), version("vip", LATER, None),
    ],
    "semantic.storefront_order_facts": [
        {"order_id": 7, "line": 1, "product_name": "Oolong", "category": "Tea", "quantity": 1,
         "customer_segment": "new", "list_amount": Decimal(10), "unit_amount": Decimal("9.50"),
         "discount_amount": Decimal(0), "net_amount": Decimal("9.50")},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Its tables by their contracts, filled without Spark; and an hour that was left for others."""
    with lake_in(tmp_path_factory.mktemp("notebooks") / "a lake") as folder:
        catalog = Catalog().iceberg
        for name, rows in SHOP.items():
            catalog.create_namespace_if_not_exists(name.split(".")[0])
            table = catalog.create_table(name, iceberg_schema(tables()[name].contract))
            table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))
        hour = folder / "landing" / "raw" / TOPIC / "2026-05-04-12"
        hour.mkdir(parents=True)
        schema = {"type": "record", "name": "Change", "fields": [{"name": "op", "type": "string"}]}
        with (hour / "part.avro").open("wb") as file:
            fastavro.writer(file, schema, [{"op": "c"}, {"op": "u"}, {"op": "u"}])
        yield folder


def cells(file: Path, kind: str) -> list[Row]:
    found = json.loads(file.read_text())["cells"]
    return [cell for cell in found if cell["cell_type"] == kind]


def shown(file: Path) -> list[str]:
    """What each of its cells shows."""
    code = ["".join(cell["source"]) for cell in cells(file, "code")]
    done = subprocess.run(
        [sys.executable, "-c", KERNEL], input=json.dumps(code), text=True, cwd=FOLDER,
        env=dict(os.environ, PYTHONPATH=str(settings.ROOT)), capture_output=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [str(text) for text in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_notebook_is_stored_without_what_it_showed_and_is_plain_python(file: Path) -> None:
    assert cells(file, "markdown")[0]["source"][0].startswith("# ")
    for cell in cells(file, "code"):
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        ast.parse("".join(cell["source"]))


def test_the_shops_notebook_answers_its_questions(shop: Path) -> None:
    names, _, sales, segments, changes, customer, facts, staged, left = shown(
        FOLDER / "storefront.ipynb"
    )
    assert "marts.storefront_sales_daily" in names
    week, latest = row(sales, "2026-05-04"), row(sales, "2026-05-11")
    assert week[1:5] == ["Tea", "EUR", "2", "42.00"] and latest[1] == "(none)"
    assert row(segments, "vip")[1:5] == ["EUR", "2", "10", "100.00"]
    assert row(segments, "new")[1:3] == ["null", "1"]
    told = [line for line in changes.splitlines() if "9.50" in line]
    assert [s for line in told for s in ("pending", "paid", "shipped") if s in line] == [
        "pending", "paid", "shipped",
    ]  # fmt: skip
    assert "new" in customer and "vip" not in customer, "as it was when it was ordered"
    assert row(facts, "Oolong")[3] == "new"
    assert row(staged, "created_at")[2] == "2"
    assert row(left, TOPIC) == [TOPIC, "2026-05-04-12", "3"]


def row(text: str, what: str) -> list[str]:
    """The values of the first line that has it, of a table drawn with lines."""
    line = next(line for line in text.splitlines() if what in line)
    return [part.strip() for part in line.replace("│", "┆").strip("┆ ").split("┆")]
