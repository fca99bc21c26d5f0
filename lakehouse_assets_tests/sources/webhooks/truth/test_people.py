import pytest

from lakehouse_assets.sources.webhooks.truth.people import (
    EMAIL_RECORDS,
    PHONE_RECORDS,
    Contact,
    Score,
    e164,
    groups,
    mailbox,
    score,
)


def by_email(*emails: str) -> dict[int, Contact]:
    return {n: Contact(email, None, None) for n, email in enumerate(emails, 1)}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (" Anna.B@Example.COM ", "anna.b@example.com"),
        ("anna.b+shop@example.com", "anna.b@example.com"),
        ("annab@example.com", "annab@example.com"),  # dots are not ignored
        ("anna+a+b@example.com", "anna@example.com"),
        ("+tag@example.com", None),
        ("anna@example", None),
        ("anna@@example.com", None),
        ("anna b@example.com", None),
        ("anna@example..com", None),
        ("", None),
        (None, None),
    ],
)
def test_an_email_is_a_mailbox_or_nothing(said: str | None, meant: str | None) -> None:
    assert mailbox(said) == meant


@pytest.mark.parametrize(
    ("said", "country", "meant"),
    [
        ("+49 1511 234 5678", None, "+4915112345678"),
        ("0049 1511 2345678", "US", "+4915112345678"),
        ("+49 (0) 1511 2345678", None, "+4915112345678"),
        ("01511 2345678", "DE", "+4915112345678"),
        ("(212) 555-0123", "US", "+12125550123"),
        ("1-212-555-0123", "CA", "+12125550123"),
        ("+1 212 555 0123 ext. 44", None, "+12125550123"),
        ("+1 212 555 0123 x44", None, "+12125550123"),
        ("01511 2345678", None, None),  # of which country?
        ("01511 2345678", "ZZ", None),
        ("+49 12", None, None),
        ("+49 1511 2345678 90123", None, None),
        ("+0049 1511 234567", None, None),
        ("call me", "DE", None),
        ("tel:+49-1511-2345678", None, "+4915112345678"),
        ("Tel: 01511-2345678;phone-context=+49", "DE", "+4915112345678"),
        ("49 1511 2345678", "DE", "+4915112345678"),
        ("4941 123456", "DE", "+494941123456"),  # too short to tell: a town's, without its 0
        ("420 603 123 456", "CZ", "+420603123456"),
        (None, "DE", None),
    ],
)
def test_a_phone_is_e164_or_nothing(
    said: str | None, country: str | None, meant: str | None
) -> None:
    assert e164(said, country) == meant


def test_a_record_that_knows_two_groups_joins_them() -> None:
    known = {
        1: Contact("a@example.com", None, None), 2: Contact("A+x@example.com", None, None),
        3: Contact(None, "+1 212 555 0123", None),
    }  # fmt: skip
    assert groups(known) == {1: 1, 2: 1, 3: 3}
    known[4] = Contact("a@example.com", "(212) 555-0123", "US")
    assert groups(known) == {1: 1, 2: 1, 3: 1, 4: 1}
    known[4] = Contact("b@example.com", "(212) 555-0123", "US")  # it changed: the group splits
    assert groups(known) == {1: 1, 2: 1, 3: 3, 4: 3}


def test_what_many_have_links_nobody() -> None:
    phones = {n: Contact(None, "+12125550123", None) for n in range(PHONE_RECORDS)}
    assert len(set(groups(phones).values())) == 1
    phones[99] = Contact(None, "+12125550123", None)
    assert len(set(groups(phones).values())) == PHONE_RECORDS + 1
    emails = by_email(*["a@example.com"] * EMAIL_RECORDS)
    assert len(set(groups(emails).values())) == 1
    assert len(set(groups(by_email(*["a@example.com"] * (EMAIL_RECORDS + 1))).values())) > 10


def test_a_mailbox_of_a_role_links_nobody() -> None:
    assert groups(by_email("info@firm.example", "Info+x@firm.example")) == {1: 1, 2: 2}


def test_the_score_counts_pairs() -> None:
    real = {1: "a", 2: "a", 3: "b", 4: "b"}
    assert score({1: 1, 2: 1, 3: 3, 4: 3}, real) == Score(1.0, 1.0, 1.0)
    assert score({1: 1, 2: 1, 3: 1, 4: 4}, real) == Score(1 / 3, 1 / 2, 2 / 5)
    assert score({1: 1, 2: 2}, real) == Score(1.0, 0.0, 0.0)
