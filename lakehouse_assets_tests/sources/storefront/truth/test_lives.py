"""What is so now and what was so, from changes in any order: the database's log decides."""

from datetime import timedelta
from itertools import permutations

from lakehouse_assets_tests.sources.storefront.truth.said import T0, at, change, seen, told

NOW = "semantic.storefront_customers"
HISTORY = "semantic.storefront_customer_history"
PEOPLE = "semantic.storefront_people"
SPANS = ("customer_id", "valid_from_at", "valid_to_at", "segment", "is_deleted")


def test_the_last_change_in_the_log_stands_whatever_came_when() -> None:
    changes = [
        change("customers", "c", 1, {"id": 1}),
        change("customers", "u", 3, {"id": 1, "segment": "vip"}, {"id": 1}, minute=2),
        change("customers", "u", 2, {"id": 1, "segment": "loyal"}, {"id": 1}, minute=90),
        change("customers", "c", 1, {"id": 2}),
        change("customers", "d", 4, was={"id": 2}),
    ]
    for order in permutations(changes):
        truth = told(*order)
        assert seen(truth[NOW], "customer_id", "segment", "changed_at", "lsn") == [
            (1, "vip", at(2), 3)
        ]


def test_truncate_and_a_new_snapshot_end_what_they_do_not_tell_again() -> None:
    first = [change("customers", "c", 1, {"id": n}) for n in (1, 2, 3)]
    truth = told(*first, change("customers", "t", 5), change("customers", "c", 6, {"id": 2}))
    assert seen(truth[NOW], "customer_id", "lsn") == [(2, 6)]
    again = [
        change("customers", "r", 5, {"id": 1}, snapshot="first_in_data_collection"),
        change("customers", "r", 5, {"id": 3}, snapshot="last"),
    ]
    truth = told(*first, *again)
    assert seen(truth[NOW], "customer_id", "lsn") == [(1, 5), (3, 5)]
    assert seen(truth[HISTORY], *SPANS) == [
        (1, T0, at(5), "new", False), (1, at(5), None, "new", False),
        (2, T0, at(5), "new", False), (2, at(5), None, None, True),
        (3, T0, at(5), "new", False), (3, at(5), None, "new", False),
    ]  # fmt: skip


def test_what_is_streamed_after_a_snapshot_is_after_it_wherever_in_the_log_it_stands() -> None:
    truth = told(
        change("customers", "c", 1, {"id": 3}),  # of which the snapshot knows nothing
        *[change("customers", "r", 9, {"id": n}, snapshot=at)
          for n, at in ((1, "first"), (2, "last"))],
        change("customers", "u", 6, {"id": 1, "segment": "vip"}, {"id": 1}),
        change("customers", "d", 7, was={"id": 2}),
        change("customers", "c", 8, {"id": 4}),
    )  # fmt: skip
    assert seen(truth[NOW], "customer_id", "segment") == [(1, "vip"), (4, "new")]
    assert (1, at(9), None, "vip", False) in seen(truth[HISTORY], *SPANS)
    assert [span[0] for span in seen(truth[HISTORY], *SPANS) if span[4]] == [2, 3]


def test_a_history_has_no_gap_and_its_first_version_is_as_old_as_the_row() -> None:
    truth = told(
        change("customers", "u", 10, {"id": 1}, {"id": 1}),
        change("customers", "d", 20, was={"id": 1}),
        change("customers", "d", 21, was={"id": 1}),
        change("customers", "c", 30, {"id": 1, "segment": "vip"}),
        change("customers", "u", 31, {"id": 1, "segment": "loyal"}, {"id": 1}, minute=7),
    )
    assert seen(truth[HISTORY], *SPANS) == [
        (1, T0, at(20), "new", False), (1, at(20), at(30), None, True),
        (1, at(30), None, "loyal", False),
    ]  # fmt: skip


def test_a_late_change_goes_between_those_that_were_there() -> None:
    first, last = change("customers", "c", 1, {"id": 1}), change(
        "customers", "u", 9, {"id": 1, "segment": "vip"}, {"id": 1}
    )
    late = change("customers", "u", 5, {"id": 1, "segment": "loyal"}, {"id": 1})
    spans = seen(told(first, last, late)[HISTORY], *SPANS)
    assert spans == seen(told(first, late, last)[HISTORY], *SPANS)
    assert spans[1] == (1, at(5), at(9), "loyal", False)


def test_a_customer_whose_first_day_changes_has_one_life() -> None:
    moved = {"id": 1, "created_at": T0 - timedelta(days=3)}
    truth = told(
        change("customers", "c", 1, {"id": 1}), change("customers", "u", 2, moved, {"id": 1})
    )
    assert seen(truth[HISTORY], *SPANS) == [
        (1, T0, at(2), "new", False), (1, at(2), None, "new", False),
    ]  # fmt: skip


def test_everybody_there_ever_was_stays_known_by_id_and_times() -> None:
    truth = told(
        *[change("customers", "c", 1, {"id": n, "updated_at": at(1)}) for n in (1, 2)],
        change("customers", "d", 2, was={"id": 2, "updated_at": at(1)}),
        change("customers", "t", 5), change("customers", "c", 6, {"id": 3, "updated_at": at(6)}),
    )  # fmt: skip
    assert seen(truth[PEOPLE], "customer_id", "email", "is_deleted", "updated_at") == [
        (1, None, True, at(1)), (2, None, True, at(1)), (3, "a@example.com", False, at(6)),
    ]  # fmt: skip
    assert seen(truth[NOW], "customer_id") == [3]
