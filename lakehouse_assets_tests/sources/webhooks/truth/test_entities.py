"""Who is one person, told without engine and Spark."""

from decimal import Decimal

from lakehouse_assets_tests.sources.webhooks.truth.said import event, expected, person, stripe

INDEX, BLOCKS = "semantic.entity_index", "semantic.blocking_index"
MADE = 1_777_896_000


def test_records_with_a_key_in_common_are_one_and_called_by_the_least() -> None:
    truth = expected([
        person(id=5, email="Anna+x@example.com ", phone="+1 212 555 0123"),
        person(id=6, email="b@example.com", phone="(212) 555-0123",
               default_address={"country_code": "US"}),
        stripe("customer.created", MADE, email="anna@example.com"),
        person(id=7, email="c@example.com"),
    ])  # fmt: skip
    told = [(r["source"], r["source_id"], r["entity_id"], r["match_confidence"])
            for r in truth[INDEX]]  # fmt: skip
    first = ("shopify", "5")
    assert told == [
        ("shopify", "5", first, Decimal("1.00")), ("shopify", "6", first, Decimal("0.90")),
        ("shopify", "7", ("shopify", "7"), Decimal("1.00")),
        ("stripe", "cus_1", first, Decimal("0.95")),
    ]  # fmt: skip
    assert truth[INDEX][0]["email_normalized"] == "anna@example.com"
    assert [r["phone_normalized"] for r in truth[INDEX]][:2] == ["+12125550123"] * 2
    assert [r["full_name"] for r in truth[INDEX]] == ["Anna B"] * 3 + ["A B"]


def test_a_block_counts_up_to_one_more_than_links_and_those_records_are_alone() -> None:
    truth = expected([person(id=n, email=None, phone="+12125550123") for n in range(10, 17)])
    assert [(r["source_id"], r["block_size"]) for r in truth[BLOCKS]] == [
        (str(n), 5) for n in range(10, 17)
    ]
    assert len({r["entity_id"] for r in truth[INDEX]}) == 7
    assert {r["match_confidence"] for r in truth[INDEX]} == {Decimal("1.00")}


def test_roles_have_no_block_and_the_deleted_no_row() -> None:
    gone = event("shopify.customers", "customers/delete", {"id": 5})
    truth = expected([person(id=4, email="info@example.com"), person(), gone])
    assert [r["source_id"] for r in truth[INDEX]] == ["4"]
    assert not truth[BLOCKS]
