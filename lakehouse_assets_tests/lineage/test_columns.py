"""Column lineage from the transforms' plans, beside what is typed here by hand of three tables."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets.commands.common import tables
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.lineage import columns as finding
from lakehouse_assets.lineage.columns import analyzed, columns, kept
from lakehouse_assets.lineage.plan import Source
from lakehouse_assets_tests.lake.tables import own_lake

P, R, D = "semantic.payments", "staging.stg_payment_refunds", "staging.stg_payment_disputes"
ORDERS = "staging.stg_shopify_orders"


def same(column: str, *frames: str) -> list[Source]:
    return [Source(frame, column, True) for frame in frames]


def made(frame: str, *names: str) -> list[Source]:
    return [Source(frame, name, False) for name in names]


SPELLED = ("currency", "provider", "provider_amount")
BY_HAND = {
    "marts.payments_daily": {
        "created_on": made(P, "created_at"),
        **{name: same(name, P) for name in ("provider", "status", "currency")},
        "amount": made(P, "amount"),
        "average_amount": made(P, "amount"),
        "failure_rate": made(P, "status"),
        "dirty_share": made(P, "is_dirty"),
    },
    "semantic.order_lines": {
        **{name: same(name, ORDERS) for name in ("order_id", "currency", "created_at")},
        **{name: made(ORDERS, "_line_items")
           for name in ("line_id", "product_id", "sku", "title", "quantity", "price")},
    },
    "semantic.payment_ledger": {
        "movement_id": [*made(P, "charge_id"), *made(R, "refund_id"), *made(D, "dispute_id")],
        **{name: same(name, P, R, D) for name in
           ("charge_id", "provider", "merchant_id", "customer_id", "currency", "created_at")},
        "amount": [*same("amount", P), *made(R, *SPELLED), *made(D, *SPELLED)],
        "amount_minor": [*same("amount_minor", P), *made(R, *SPELLED), *made(D, *SPELLED)],
        "moved_at": same("updated_at", P, R, D),
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def lake(stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with own_lake(tmp_path_factory.mktemp("columns")) as lake:
        yield lake


@pytest.mark.parametrize("name", BY_HAND)
def test_it_is_as_it_was_typed_by_hand(lake: Lake, name: str) -> None:
    found = {n: [s for s in made if s.column] for n, made in analyzed(lake, tables()[name]).items()}
    assert {n: some for n, some in found.items() if some} == {
        column: sorted(sources) for column, sources in BY_HAND[name].items()
    }


def test_rows_of_each_part_of_a_union_are_told_by_their_literals(lake: Lake) -> None:
    kinds = analyzed(lake, tables()["semantic.payment_ledger"])["kind"]
    assert {(s.frame, s.literal) for s in kinds} == {
        (P, "charge"), (R, "refund"), (D, "dispute"), (D, "reversal"),
    }  # fmt: skip
    sources = analyzed(lake, tables()["semantic.entity_index"])["source"]
    assert {s.literal for s in sources} == {"shopify", "stripe", "hubspot", "storefront"}


def test_every_transform_is_understood(lake: Lake) -> None:
    for name, table in tables().items():
        if table.transform is not None:
            found = analyzed(lake, table)
            assert found.keys() <= table.contract.columns.keys(), name
            parents = {p.name: p.contract.columns for p in table.parents.values()}
            sources = {(s.frame, s.column) for every in found.values() for s in every if s.column}
            known = {(p, c) for p, theirs in parents.items() for c in (*theirs, "_commit")}
            assert sources and sources <= known, name


def test_it_is_asked_once_for_a_version_of_the_code(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path))
    table = tables()["marts.payments_daily"]
    assert kept(table) is None
    found = columns(lake, table)
    monkeypatch.setattr(finding, "analyzed", None)
    assert columns(lake, table) == kept(table) == found
    assert columns(lake, tables()["raw.payment_charges"]) == {}
    monkeypatch.setattr(type(table), "code_version", lambda self: "another")
    assert kept(table) is None
