"""analytics.customer_risk_features: what a customer did in the hour up to a charge."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from random import Random

from lakehouse_assets.analytics.customer_risk_features import (
    CustomerRiskFeatures,
    customer_risk_features,
)
from lakehouse_assets.lake.advance import advance
from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.payments import Payments
from lakehouse_assets.sources.payments import FIRST_DAY, Dirt, payments, truth
from lakehouse_assets.sources.payments.truth.features import FEATURES, tables
from lakehouse_assets.sources.payments.truth.payments import PAYMENTS
from lakehouse_assets_tests.lake.tables import Row, add, result
from lakehouse_assets_tests.support import rows, same_rows, stored

AT = datetime(2024, 3, 1, 23, 30, tzinfo=timezone.utc)
SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=s) for s in (1, 60, 3_600, 86_400))
INSTANT = timedelta(microseconds=1)


def charge(id: str, after: timedelta = 0 * SECOND, **more: object) -> Row:
    """Of customer c, one euro by one card, some time after half past eleven at night."""
    return {
        "charge_id": id, "customer_id": "c", "currency": "EUR", "amount": Decimal(1),
        "payment_method_id": "pm", "card_country": "DE", "status": "succeeded",
        "created_at": AT + after, "arrived_at": AT + after, **more,
    }  # fmt: skip


def told(lake: Lake, charges: list[Row], *features: str) -> dict[str, tuple[object, ...]]:
    found = result(customer_risk_features, payments=rows(lake.spark, Payments, *charges))
    return {row["charge_id"]: tuple(row[feature] for feature in features) for row in found}


def test_the_hour_has_both_its_ends_and_ends_with_the_charge(lake: Lake) -> None:
    charges = [charge("1"), charge("2", HOUR), charge("3", HOUR + INSTANT), charge("4", 3 * HOUR)]
    expected = {"1": (1,), "2": (2,), "3": (2,), "4": (1,)}
    assert told(lake, charges, "transactions_1h") == expected
    assert told(lake, charges[::-1], "transactions_1h") == expected


def test_charges_of_an_instant_are_in_each_others_hour_and_none_is_before_another(
    lake: Lake,
) -> None:
    tied = [charge("0"), *[charge(id, MINUTE, status="failed") for id in ("2", "1")]]
    found = told(lake, tied, "transactions_1h", "failures_1h", "since_last_charge_s")
    assert found == {"0": (1, 0, None), "1": (3, 0, 60), "2": (3, 0, 60)}


def test_a_charge_that_names_no_customer_stands_alone(lake: Lake) -> None:
    nobody = [charge(id, customer_id=None) for id in ("1", "2")]
    others = [charge("3", customer_id="d"), charge("4")]
    found = told(lake, nobody + others, "customer_id", "transactions_1h", "since_last_charge_s")
    assert found == {
        "1": (None, 1, None), "2": (None, 1, None), "3": ("d", 1, None), "4": ("c", 1, None),
    }  # fmt: skip


def test_amounts_are_added_within_one_currency_and_unknown_ones_have_no_total(lake: Lake) -> None:
    yen, unsaid = {"currency": "JPY", "amount": Decimal(500)}, {"currency": None}
    charges = [
        charge("1", amount=Decimal("0.10")), charge("2", MINUTE, **yen),
        charge("3", HOUR, amount=Decimal("0.20")), charge("4", HOUR + MINUTE, **yen),
        charge("5", **unsaid), charge("6", **unsaid, amount=None),
    ]  # fmt: skip
    found = {id: total for id, (total,) in told(lake, charges, "total_amount_1h").items()}
    assert found == {
        "1": Decimal("0.10"), "2": Decimal(500), "3": Decimal("0.30"), "4": Decimal(1000),
        "5": None, "6": None,
    }  # fmt: skip


def test_scores_and_failures_count_where_they_are_known(lake: Lake) -> None:
    said = ((None, "failed"), (10, "failed"), (None, "pending"), (11, None), (90, "failed"))
    charges = [
        charge(str(n), n * 20 * MINUTE, risk_score=score, status=status)
        for n, (score, status) in enumerate(said)
    ]
    assert told(lake, charges, "avg_risk_1h", "failures_1h") == {
        "0": (None, 0), "1": (10.0, 1), "2": (10.0, 2), "3": (10.5, 2), "4": (37.0, 1),
    }  # fmt: skip


def test_a_card_and_a_country_count_once_while_a_charge_of_them_is_in_the_hour(lake: Lake) -> None:
    other = {"payment_method_id": "pm2", "card_country": "US"}
    unnamed = {"payment_method_id": None, "card_country": None}
    charges = [
        charge("1"), charge("2", MINUTE, **other), charge("3", HOUR, **other),
        charge("4", HOUR + MINUTE), charge("5", 2 * HOUR, **unnamed),
        charge("6", 2 * HOUR + INSTANT, **unnamed, card_brand="visa", card_last4="4242"),
        charge("7", 2 * HOUR + 2 * MINUTE, **unnamed, card_brand="visa"),
    ]  # fmt: skip
    assert told(lake, charges, "cards_1h", "countries_1h") == {
        "1": (1, 1), "2": (2, 2), "3": (2, 2), "4": (2, 2), "5": (2, 2), "6": (2, 1), "7": (1, 0),
    }  # fmt: skip


def test_a_pause_of_more_than_thirty_days_is_told_as_none(lake: Lake) -> None:
    after = {"1": 0 * DAY, "2": DAY - INSTANT, "3": 31 * DAY - INSTANT, "4": 61 * DAY}
    charges = [charge(id, pause) for id, pause in after.items()]
    found = {id: pause for id, (pause,) in told(lake, charges, "since_last_charge_s").items()}
    assert found == {"1": None, "2": 86_399, "3": 30 * 86_400, "4": None}


def test_a_row_is_known_when_the_last_charge_of_its_hour_has_arrived(lake: Lake) -> None:
    late = {"arrived_at": AT + DAY}
    charges = [charge("1", **late), charge("2", HOUR), charge("3", HOUR + MINUTE)]
    made = customer_risk_features.transform(payments=rows(lake.spark, Payments, *charges))
    found = {row["charge_id"]: row["_known_at"].timestamp() for row in made.collect()}
    known = {"1": AT + DAY, "2": AT + DAY, "3": AT + HOUR + MINUTE}
    assert found == {id: at.timestamp() for id, at in known.items()}


def test_what_comes_late_changes_its_customers_hour_and_pause_and_nothing_else(lake: Lake) -> None:
    (parent,) = customer_risk_features.parents.values()
    known = [charge("1"), charge("2", HOUR), charge("3", 20 * DAY), charge("4", 40 * DAY)]
    add(lake, parent, *known, charge("5", MINUTE, customer_id="d"), stated=False)
    advance(lake, customer_risk_features)
    late = [charge("6", 30 * MINUTE), charge("7", 25 * DAY), charge("8", customer_id=None)]
    add(lake, parent, *late, stated=False)
    (published,) = advance(lake, customer_risk_features).published
    assert published.stored == 5  # these, and 2 and 4
    told = ("charge_id", "customer_id", "transactions_1h", "since_last_charge_s")
    assert [tuple(row.values()) for row in stored(CustomerRiskFeatures.name, *told)] == [
        ("1", "c", 1, None), ("2", "c", 3, 1_800), ("3", "c", 1, 20 * 86_400 - 3_600),
        ("4", "c", 1, 15 * 86_400), ("5", "d", 1, None), ("6", "c", 2, 1_800),
        ("7", "c", 1, 5 * 86_400), ("8", None, 1, None),
    ]  # fmt: skip


def crowded(seed: int) -> list[Row]:
    """Generated charges, dirt and all, of few customers with several cards and countries each."""
    rng, dirt = Random(seed), Dirt(null_spelling=0.1, late=0.1, tie_state=0.05, bad_country=0.05)
    events = payments(seed, 4_000, FIRST_DAY, dirt, interval=5 * SECOND)
    charges = truth.expected(truth.delivered(events, FIRST_DAY, 5 * SECOND))[PAYMENTS]
    for row in charges:
        row["customer_id"] = row["customer_id"] and f"c{rng.randrange(30)}"
        row["payment_method_id"] = rng.choice(("pm1", "pm2", "pm3", None))
        row["created_at"] = row["created_at"].replace(microsecond=0, second=0)
    return charges


def test_generated_charges_give_the_truth(lake: Lake) -> None:
    charges = crowded(5)
    frame = rows(lake.spark, Payments, *[_of(Payments, row) for row in charges])
    expected = tables({PAYMENTS: charges})[FEATURES]
    assert max(row["transactions_1h"] for row in expected) > 5
    assert max(row["cards_1h"] for row in expected) > 3
    same_rows(result(customer_risk_features, payments=frame), expected)


def _of(contract: type[Payments], row: Row) -> Row:
    return {name: value for name, value in row.items() if name in contract.columns}
