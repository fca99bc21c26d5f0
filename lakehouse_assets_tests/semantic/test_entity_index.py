"""semantic.entity_index: whose each record is, across systems, from batch to batch."""

from decimal import Decimal

from lakehouse_assets.lake.advance import advance, rebuild
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.entity_index import EntityIndex, entity_index
from lakehouse_assets_tests.lake.tables import result
from lakehouse_assets_tests.semantic.people import (
    AT,
    HUBSPOT,
    MINUTE,
    SHOP,
    SHOPIFY,
    STRIPE,
    entities,
    known,
    replace,
    tell,
)
from lakehouse_assets_tests.support import broken_across, broken_rules, rows, stored


def test_one_person_in_three_systems_under_three_spellings_is_one(lake: Lake) -> None:
    tell(lake, SHOPIFY, known("1", "Ada+shop@X.org ", first_name="Ada", last_name="Low"))
    tell(lake, STRIPE, known("cus_1", "ada@x.org", "(212) 555-0100", full_name="Ada L."))
    tell(lake, HUBSPOT, known("7", None, "+1 212 555 0100", first_name="Ada"))
    assert len(set(entities(lake).values())) == 1
    columns = ("source", "email_normalized", "phone_normalized", "full_name", "match_confidence")
    assert sorted(tuple(row[c] for c in columns) for row in stored(entity_index.name)) == [
        ("hubspot", None, "+12125550100", "Ada", Decimal("0.90")),
        ("shopify", "ada@x.org", None, "Ada Low", Decimal("0.95")),
        ("stripe", "ada@x.org", "+12125550100", "Ada L.", Decimal("1.00")),
    ]


def test_nobody_is_there_without_a_record_and_who_shares_nothing_is_alone(lake: Lake) -> None:
    tell(lake, STRIPE, known("a"), known("b", "x@x.org"), known("c", "info@x.org"),
         known("d", "info@x.org"), known("e", is_deleted=True))  # fmt: skip
    found = entities(lake)
    assert (len(found), len(set(found.values()))) == (4, 4)
    assert {row["match_confidence"] for row in stored(entity_index.name)} == {Decimal("1.00")}


def test_only_what_hangs_together_with_the_news_is_written_again(lake: Lake) -> None:
    tell(lake, STRIPE, *[known(f"c{n}", f"m{n // 2}@x.org") for n in range(10)])
    before = entities(lake)
    tell(lake, SHOPIFY, known("1", "m0@x.org"))
    (published,) = advance(lake, entity_index).published
    assert (published.stored, published.removed) == (1, 0)  # the others say the same
    assert entities(lake) == before | {"shopify/1": before["stripe/c0"]}


def test_a_deletion_takes_the_record_and_leaves_the_others(lake: Lake) -> None:
    tell(lake, STRIPE, known("c1", "m@x.org"))
    tell(lake, SHOPIFY, known("1", "m@x.org"))
    before = entities(lake)
    head = lake.catalog.head(STRIPE.name)
    later = known("c1", is_deleted=True, updated_at=AT + MINUTE)
    replace(lake, STRIPE, later)
    assert lake.catalog.head(STRIPE.name).stamp.commit == head.stamp.commit + 1
    assert entities(lake) == {"shopify/1": before["shopify/1"]}


def test_a_customer_of_the_shop_is_who_has_their_mailbox_or_number_elsewhere(lake: Lake) -> None:
    """Also who came before, and who is in no other system."""
    tell(lake, SHOP, known(1, "Ada@x.org", first_name="Ada", last_name="Low"), known(2, "c@x.org"))
    before = entities(lake)
    assert len(set(before.values())) == 2
    tell(lake, STRIPE, known("cus_1", "ada+s@x.org"), known("cus_2", None, "+49 151 1000000"))
    tell(lake, SHOP, known(3, "d@x.org", "0151 1000000", country="DE"))
    found = entities(lake)
    assert found["storefront/1"] == found["stripe/cus_1"] == before["storefront/1"]
    assert found["storefront/3"] == found["stripe/cus_2"]
    assert len(set(found.values())) == 3
    names = {row["source_id"]: row["full_name"] for row in stored(entity_index.name)}
    assert names["1"] == "Ada Low"


def test_of_the_shop_too_a_new_mailbox_moves_its_record_alone_and_a_deletion_takes_it(
    lake: Lake
) -> None:
    tell(lake, SHOP, *[known(n, f"m{n}@x.org") for n in range(5)])
    tell(lake, STRIPE, known("a", "m0@x.org"), known("b", "m0@x.org"), known("c", "m1@x.org"))
    before = entities(lake)
    replace(lake, SHOP, known(0, "m1@x.org", updated_at=AT + MINUTE))
    (published,) = advance(lake, entity_index).published
    assert (published.stored, published.removed) == (1, 1), "the others say the same"
    assert entities(lake) == before | {"storefront/0": before["stripe/c"]}
    replace(lake, SHOP, known(0, is_deleted=True, updated_at=AT + 2 * MINUTE))
    found = entities(lake)
    assert found == {who: entity for who, entity in before.items() if who != "storefront/0"}


def test_a_rebuild_keeps_the_names(lake: Lake) -> None:
    tell(lake, STRIPE, known("c1", "m@x.org"), known("c2", "m@x.org"), known("c3"))
    before = entities(lake)
    rebuild(lake, entity_index)
    assert entities(lake) == before


def test_a_record_that_its_parent_refuses_later_is_gone_with_the_rebuild(lake: Lake) -> None:
    from lakehouse_assets.lake import scope
    from lakehouse_assets.lake.publish import Change, publish

    for parent in (SHOPIFY, HUBSPOT):
        tell(lake, parent)
    tell(lake, STRIPE, known("c1", "m@x.org", "+492222222"), known("c2", "m@x.org"))
    tell(lake, SHOP, known(1, None, "+492222222"), known(2, None, "+492222222"))
    before, head = entities(lake), lake.catalog.head(STRIPE.name)
    good = known("c2", "m@x.org")
    frame = rows(lake.spark, STRIPE.contract, {"customer_id": good.pop("_number")} | good)
    made = frame.selectExpr("* except (_commit)", "1 as _copies")
    anew = scope.next_stamp(head.stamp, epoch=head.stamp.epoch + 1)
    publish(lake, STRIPE.contract, head, Change(made, "replace", anew, carry=False))
    (ghosts,) = [rule for rule in EntityIndex.across if rule.name == "nobody_is_a_ghost"]
    assert [row["source_id"] for row in lake.spark.sql(ghosts.bad).collect()] == ["c1"]
    assert len(set(before.values())) == 1
    after = entities(lake)
    assert after.keys() == before.keys() - {"stripe/c1"}
    assert after["storefront/1"] == after["storefront/2"] == before["storefront/1"]
    rebuild(lake, entity_index)
    assert entities(lake) == after
    assert not broken_across(lake, entity_index)


def test_every_record_of_staging_has_its_place(lake: Lake) -> None:
    tell(lake, STRIPE, known("c1", "m@x.org"))
    tell(lake, SHOPIFY)
    tell(lake, HUBSPOT)
    entities(lake)
    assert not broken_across(lake, entity_index)
    tell(lake, STRIPE, known("c2"), known("c3", is_deleted=True))
    tell(lake, SHOP, known(1), known(2, is_deleted=True))
    made = result(entity_index, **{
        name: rows(lake.spark, table.contract) for name, table in entity_index.parents.items()
    })  # fmt: skip
    assert made == []
    bad = [lake.spark.sql(rule.bad).collect() for rule in EntityIndex.across]
    assert [(row["source"], row["source_id"]) for rows in bad for row in rows] == [
        ("stripe", "c2"), ("storefront", "1")
    ]  # fmt: skip
    replace(lake, SHOP, known(1, is_deleted=True))
    replace(lake, STRIPE, known("c1", is_deleted=True))
    bad = [lake.spark.sql(rule.bad).collect() for rule in EntityIndex.across]
    assert [[row["source_id"] for row in rows] for rows in bad] == [["c2"], ["c1"], [], []]


def test_what_is_no_number_and_no_stated_confidence_is_counted(lake: Lake) -> None:
    good = {
        "entity_id": "ent_1", "source": "stripe", "source_id": "c1",
        "match_confidence": Decimal("1.00"),
    }  # fmt: skip
    odd = {
        "source_known": good | {"source": "fax"},
        "phone_is_e164": good | {"phone_normalized": "0151"},
        "confidence_known": good | {"match_confidence": Decimal("0.50")},
    }
    assert broken_rules(lake, EntityIndex, good, *odd.values()) == ["", *odd]


def test_who_they_are_and_how_they_are_reached_is_private() -> None:
    assert set(EntityIndex.pii()) == {
        "email", "email_normalized", "phone", "phone_normalized", "first_name", "last_name",
        "full_name",
    }  # fmt: skip
