"""Who is in the simulator's world, and how hard its traps make it to tell who is who."""

from collections import Counter, defaultdict
from itertools import islice
from random import Random
from time import perf_counter

import phonenumbers
import pytest

from lakehouse_assets.sources.webhooks import Traps, identities, spelling
from lakehouse_assets.sources.webhooks.countries import COUNTRIES, number
from lakehouse_assets.sources.webhooks.people import people
from lakehouse_assets.sources.webhooks.truth.people import (
    PHONE_RECORDS,
    Contact,
    Score,
    e164,
    groups,
    is_role,
    mailbox,
    score,
)

NONE = Traps(*[0.0] * 7)


def judged(count: int, traps: Traps, seed: int = 4) -> Score:
    made = list(identities(seed, count, traps))
    known = {(r.source, r.source_id): Contact(r.email, r.phone, r.country) for r in made}
    return score(groups(known), {(r.source, r.source_id): r.person_id for r in made})


def test_a_seed_makes_the_same_records_and_fewer_are_the_beginning_of_more() -> None:
    assert list(identities(1, 500)) == list(identities(1, 900))[:500]
    assert list(identities(1, 500)) != list(identities(2, 500))


def test_people_are_in_one_to_three_systems() -> None:
    systems = Counter(len(person.systems) for person in islice(people(1), 5_000))
    assert set(systems) == {1, 2, 3} and min(systems.values()) > 800


def test_everybody_has_a_mailbox_and_a_mobile_of_their_own() -> None:
    crowd = list(islice(people(1, Traps(recycled=0)), 20_000))
    assert len({person.email for person in crowd}) == len(crowd)
    assert len({person.own.e164() for person in crowd}) == len(crowd)


@pytest.mark.parametrize("code", COUNTRIES)
def test_every_spelling_of_a_phone_is_that_phone_as_the_phone_companies_read_it(code: str) -> None:
    rng = Random(code)
    for serial in range(300):
        real = number(COUNTRIES[code], serial)
        for is_told in (True, False):
            said = spelling.phone(rng, real, is_told)
            assert e164(said, code if is_told else None) == real.e164(), said
            if not said.startswith("00"):  # which is dialled from Europe, not from everywhere
                read = phonenumbers.parse(said, code)
                assert phonenumbers.is_possible_number(read), said
                written = phonenumbers.format_number(read, phonenumbers.PhoneNumberFormat.E164)
                assert written == real.e164(), said


def test_every_spelling_of_an_email_is_that_mailbox_but_a_typo_is_another() -> None:
    rng = Random(1)
    for person in islice(people(1), 2_000):
        assert mailbox(spelling.email(rng, person.email)) == person.email
        assert mailbox(spelling.typo(rng, person.email)) != person.email


def test_without_traps_the_rules_find_everybody() -> None:
    assert judged(5_000, NONE) == Score(1.0, 1.0, 1.0)


@pytest.mark.parametrize("count", [5_000, 60_000])
def test_the_rules_can_reach_what_is_asked_of_them(count: int) -> None:
    found = judged(count, Traps())
    assert found.f1 >= 0.99, found
    assert found.precision < 1 and found.recall < 1  # the traps are there


def test_families_and_firms_share_phones_and_their_members_stay_apart() -> None:
    traps = Traps(0.2, 0, 0.2, 0, 0, 0, 0)
    made = list(identities(4, 8_000, traps))
    having = defaultdict(set)
    for record in made:
        having[e164(record.phone, record.country)].add(record.person_id)
    shared = [len(persons) for persons in having.values() if len(persons) > 1]
    assert sum(shared) > 1_000
    assert sum(is_role((record.email or "").strip().lower()) for record in made) > 300
    assert judged(8_000, traps).precision > 0.98


def test_couples_and_recycled_numbers_are_what_exact_rules_get_wrong() -> None:
    for wrong in (Traps(0, 0.3, 0, 0, 0, 0, 0), Traps(0, 0, 0, 0.3, 0, 0, 0)):
        assert judged(4_000, wrong).precision < 0.95


def test_typos_hide_people_where_there_is_no_phone() -> None:
    assert judged(4_000, Traps(0, 0, 0, 0, 0.3, 0, 0.5)).recall < 0.9
    assert judged(4_000, Traps(0, 0, 0, 0, 0.3, 0, 0)).recall == 1  # the phone finds them


def test_the_speed_of_making_and_grouping_records_is_told() -> None:
    began = perf_counter()
    made = list(identities(7, 120_000))
    seconds = perf_counter() - began
    found = judged(120_000, Traps(), 7)
    print(f"\n{len(made) / seconds:,.0f} records/s; by the rules {found}; at most "
          f"{PHONE_RECORDS} records with a phone")  # fmt: skip
