"""analytics.fraud_training_set: features as they were known, beside what became of the charge."""

from datetime import datetime, timedelta, timezone

from lakehouse_assets.analytics.charge_decisions import ChargeDecisions
from lakehouse_assets.analytics.fraud_training_set import fraud_training_set, mentions
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.dispute_lifecycle import DisputeLifecycle
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.support import rows, stored

AT = datetime(2024, 3, 1, 10, tzinfo=timezone.utc)
DAYS = timedelta(days=60)


def dispute(id: str, charge: str, status: str, closed: datetime | None) -> Row:
    return {"dispute_id": id, "charge_id": charge, "status": status, "closed_at": closed}


def test_a_charge_is_labelled_by_a_dispute_lost_within_sixty_days(lake: Lake) -> None:
    names = ("in_time", "too_late", "won", "open", "twice", "undisputed")
    decisions = [{"charge_id": name, "created_at": AT, "transactions_1h": 1} for name in names]
    second = timedelta(microseconds=1)
    disputes = [
        dispute("d1", "in_time", "lost", AT + DAYS),
        dispute("d2", "too_late", "lost", AT + DAYS + second),
        dispute("d3", "won", "won", AT),
        dispute("d4", "open", "under_review", None),
        dispute("d5", "twice", "lost", AT + 2 * DAYS),
        dispute("d6", "twice", "lost", AT),
        dispute("d7", "nobody's", "lost", AT),
    ]
    found = result(
        fraud_training_set,
        decisions=rows(lake.spark, ChargeDecisions, *decisions),
        disputes=rows(lake.spark, DisputeLifecycle, *disputes),
    )
    labels = {row["charge_id"]: row["is_lost_within_60_days"] for row in found}
    assert labels == dict.fromkeys(names, False) | {"in_time": True, "twice": True}
    assert {row["label_final_at"] for row in found} == {AT + DAYS}
    assert {row["transactions_1h"] for row in found} == {1}


def test_a_dispute_touches_the_row_of_its_charge_however_old(lake: Lake) -> None:
    given: list[Row] = [{"charge_id": name, "decided_at": AT - DAYS} for name in "ab"]
    decisions = rows(lake.spark, ChargeDecisions, *given)
    news = rows(lake.spark, DisputeLifecycle, dispute("d", "b", "lost", AT))
    (touched,) = mentions("disputes", news, {"decisions": decisions}).collect()
    assert touched["charge_id"] == "b"


def test_a_dispute_of_another_day_than_its_charge_changes_its_label(lake: Lake) -> None:
    decisions, disputes = fraud_training_set.parents.values()
    decided = {"charge_id": "a", "created_at": AT, "decided_at": AT}
    add(lake, decisions, decided, stated=False)
    add(lake, disputes, dispute("d0", "b", "lost", AT) | {"created_at": AT}, stated=False)
    advance(lake, fraud_training_set)
    later = {"created_at": AT + DAYS / 2, "updated_at": AT + DAYS}
    add(lake, disputes, dispute("d1", "a", "lost", AT + DAYS) | later, stated=False)
    advance(lake, fraud_training_set)
    (row,) = stored(fraud_training_set.name)
    assert row["is_lost_within_60_days"] is True
