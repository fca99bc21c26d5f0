"""marts.fraud_watchlist: customers whose features crossed limits, and which."""

from datetime import date, datetime, timedelta, timezone

from lakehouse_assets.analytics.customer_risk_features import CustomerRiskFeatures
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.marts.fraud_watchlist import LIMITS, FraudWatchlist, fraud_watchlist
from lakehouse_assets.sources.payments.truth.features import FEATURES, WATCHLIST, tables
from lakehouse_assets.sources.payments.truth.payments import PAYMENTS
from lakehouse_assets_tests.analytics.test_customer_risk_features import crowded
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.support import rows, same_rows, stored

MIDNIGHT = datetime(2024, 3, 2, tzinfo=timezone.utc)
FIRST, SECOND = date(2024, 3, 1), date(2024, 3, 2)
QUIET = {"avg_risk_1h": 10.0, "cards_1h": 1, "countries_1h": 1, "failures_1h": 0,
         "transactions_1h": 1}  # fmt: skip


def features(id: str, **more: object) -> Row:
    """Of a charge of customer c on the second day at which nothing is odd."""
    return {
        "charge_id": id, "customer_id": "c", "created_at": MIDNIGHT, **QUIET, **more,
    }  # fmt: skip


def watched(lake: Lake, *given: Row) -> list[Row]:
    return result(fraud_watchlist, features=rows(lake.spark, CustomerRiskFeatures, *given))


def reasons(lake: Lake, *given: Row) -> dict[tuple[date, str], str]:
    return {(r["flagged_on"], r["customer_id"]): r["reasons"] for r in watched(lake, *given)}


def test_a_day_has_all_its_reasons_in_order_and_its_worst_values(lake: Lake) -> None:
    given = [
        features("1", failures_1h=5, transactions_1h=6),
        features("2", cards_1h=4, avg_risk_1h=None),
        features("3", cards_1h=2, avg_risk_1h=74.9),
    ]
    expected = {
        "flagged_on": SECOND, "customer_id": "c", "charges": 3, "flagged_charges": 2,
        "reasons": "cards_1h >= 4, failures_1h >= 5", "avg_risk_1h": 74.9, "cards_1h": 4,
        "countries_1h": 1, "failures_1h": 5, "transactions_1h": 6,
    }  # fmt: skip
    same_rows(watched(lake, *given), [expected])
    same_rows(watched(lake, *reversed(given)), [expected])


def test_each_feature_crosses_its_limit_where_it_is_as_great(lake: Lake) -> None:
    at_limit = [features(name, customer_id=name, **{name: LIMITS[name]}) for name in LIMITS]
    below = [features(f"-{name}", customer_id=f"-{name}", **{name: LIMITS[name] - 1})
             for name in LIMITS]  # fmt: skip
    assert reasons(lake, *at_limit, *below) == {
        (SECOND, name): f"{name} >= {limit}" for name, limit in LIMITS.items()
    }


def test_nobody_and_those_without_a_score_are_not_watched(lake: Lake) -> None:
    nobody = features("1", customer_id=None, failures_1h=9)
    assert reasons(lake, nobody, features("2", avg_risk_1h=None)) == {}


def test_a_late_charge_puts_its_customer_on_the_list_of_its_own_day(lake: Lake) -> None:
    (parent,) = fraud_watchlist.parents.values()
    late = MIDNIGHT - timedelta(microseconds=1)
    add(lake, parent, features("1", cards_1h=4), stated=False)
    advance(lake, fraud_watchlist)
    add(lake, parent, features("2", cards_1h=5, created_at=late), stated=False)
    advance(lake, fraud_watchlist)
    found = stored(FraudWatchlist.name, "flagged_on", "cards_1h")
    assert [tuple(row.values()) for row in found] == [(FIRST, 5), (SECOND, 4)]


def test_generated_features_give_the_truth(lake: Lake) -> None:
    told = tables({PAYMENTS: crowded(6)})
    assert len({row["reasons"] for row in told[WATCHLIST]}) > 3
    same_rows(watched(lake, *told[FEATURES]), told[WATCHLIST])
