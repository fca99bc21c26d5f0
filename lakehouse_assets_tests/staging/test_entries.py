"""storefront_tables.yaml: what is wrong in it is told with its line and column."""

from pathlib import Path

import pytest

from lakehouse_assets.staging.entries import BadTables, entries

GOOD = """\
products:
  what: a product
  event_date: created_at
  columns:
    product_id: {from: id, type: bigint, key: true, doc: The number.}
    price: {type: 'decimal(12, 2)', nullable: true, doc: In units.}
    created_at: {type: timestamp, doc: 'When, UTC.'}
"""


def read(folder: Path, text: str) -> str:
    """What is wrong with it."""
    file = folder / "tables.yaml"
    file.write_text(text)
    with pytest.raises(BadTables) as told:
        entries(file)
    return str(told.value)


def test_an_entry_tells_its_columns(tmp_path: Path) -> None:
    file = tmp_path / "tables.yaml"
    file.write_text(GOOD)
    product = entries(file)["products"]
    assert (product.what, product.event_date) == ("a product", "created_at")
    number, price = product.columns["product_id"], product.columns["price"]
    assert (number.origin, number.type, number.key) == ("id", "bigint", True)
    assert (price.origin, price.type, price.nullable, price.pii) == (
        "price", "decimal(12,2)", True, False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "place", "what"),
    [
        ("type: bigint", "type: bignum", "line 5, column 34", "type 'bignum' is not known"),
        ("nullable: true", "nulable: true", "line 6, column 37", "there is no nulable; known"),
        ("key: true", "key: perhaps", "line 5, column 47", "'perhaps' is no bool"),
        ("doc: In units.", "pii: true", "line 6, column 12", "doc is missing"),
        ("date: created_at", "date: price", "line 3, column 15", "there are: created_at"),
        ("key: true", "key: false", "line 5, column 5", "no column is a key"),
        ("  what: a product\n", "", "line 2, column 3", "products: what is missing"),
        ("{type: timestamp", "[type: timestamp", "line 7, column 52", "expected"),
        ("    price:", "    created_at:", "line 7, column 5", "created_at stands there twice"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, place: str, what: str
) -> None:
    said = read(tmp_path, GOOD.replace(old, new))
    assert said.startswith(f"tables.yaml, {place}") and what in said, said


def test_an_empty_file_and_one_that_is_a_list_are_refused(tmp_path: Path) -> None:
    assert "it is empty" in read(tmp_path, "")
    assert "names with what they mean" in read(tmp_path, "- products")


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (b"\x07", "the character U+0007 is not allowed"),
        (b"\xe4", "byte 0xe4 is no UTF-8"),
        ("\ufffe".encode(), "the character U+FFFE is not allowed"),
    ],
)
def test_what_is_no_text_is_told_with_its_place(tmp_path: Path, bad: bytes, what: str) -> None:
    file = tmp_path / "tables.yaml"
    file.write_bytes(GOOD.replace("In units", "Ünits §").encode().replace("§".encode(), bad))
    with pytest.raises(BadTables) as told:
        entries(file)
    assert str(told.value) == f"tables.yaml, line 6, column 64: {what}"
