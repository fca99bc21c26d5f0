from collections import defaultdict
from itertools import pairwise

from lakehouse_assets.sources.payments import Dirt
from lakehouse_assets.sources.payments.providers import DISPUTE_STATUSES, DISPUTE_STEPS
from lakehouse_assets_tests.sources.payments.feeds import about, run

CHARGES, DISPUTES = "payment_charges", "payment_disputes"


def meant(provider: str, word: str) -> str:
    words = DISPUTE_STATUSES[provider.upper()]
    return next(step for step, said in words.items() if word in said)


def steps(dirt: Dirt) -> dict[str, list[str]]:
    """By dispute, what its events say, in the order of `updated_at`."""
    seen = defaultdict(list)
    for said in about(DISPUTES, run(30_000, dirt)):
        seen[said["dispute_id"]].append(said)
    return {
        name: [meant(e["provider"], e["status"]) for e in sorted(es, key=lambda e: e["updated_at"])]
        for name, es in seen.items()
    }


def illegal(path: list[str]) -> list[tuple[str, str]]:
    return [(a, b) for a, b in pairwise(["", *path]) if a != b and b not in DISPUTE_STEPS[a]]


def test_disputes_go_only_where_they_may_and_some_come_to_an_end() -> None:
    paths = steps(Dirt.none())
    assert not [path for path in paths.values() if illegal(path)]
    assert {path[-1] for path in paths.values()} >= {"won", "lost", "warning_closed"}


def test_an_illegal_step_is_one_that_the_state_before_does_not_allow() -> None:
    odd = [illegal(path) for path in steps(Dirt.only(illegal_step=0.1)).values()]
    assert sum(map(len, odd)) > 50


def test_a_dispute_is_of_a_charge_that_was_heard_of() -> None:
    events = run(20_000)
    known = {c["charge_id"]: c for c in about(CHARGES, events)}
    for said in about(DISPUTES, events):
        charge = known[said["charge_id"]]
        assert (said["currency"], said["amount"]) == (charge["currency"], charge["amount"])


def test_evidence_currency_and_case_number_go_missing() -> None:
    kinds = ("missing_evidence", "null_currency", "short_case_number")
    events = run(30_000, Dirt.only(**dict.fromkeys(kinds, 0.05)))
    evidence, currency, case = (about(DISPUTES, events, kind) for kind in kinds)
    assert {str(d["evidence"]["metadata"]) for d in evidence} == {"None", "{}"}
    assert {d["currency"] for d in currency} == {None, "", "NULL"}
    assert all(len(d["case_number"]) < len("CB-2026-000001") for d in case)
    whole = about(DISPUTES, events, "clean")
    assert all(len(d["case_number"]) == len("CB-2026-000001") for d in whole)
