"""semantic.contact: spellings of one mailbox and of one number are one."""

import pytest

from lakehouse_assets.lake.lake import Lake
from lakehouse_assets.semantic.contact import DIALLED, ROLES, normalized, personal
from lakehouse_assets.sources.webhooks.truth import people

EMAILS = (
    "ada@example.com", " Ada+news@Example.com ", "a.da@example.com", "+x@example.com", "ada",
    "ada@example", "a@b@example.com", "ada@exa mple.com", "", None, "info@example.com",
    "ada@mail.example.com", "ada@example.com\n",
)  # fmt: skip
PHONES = (
    ("+1 (212) 555-0100", None), ("0012125550100", "DE"), ("(212) 555-0100", "US"),
    ("1-212-555-0100", "US"), ("0151 1234567", "DE"), ("+49 (0) 151 1234567", "GB"),
    ("0151 1234567", None), ("0151 1234567", "XX"), ("555", "US"), ("+1234567890123456", "US"),
    ("0771 2345678 ext. 9", "GB"), ("07712345678x9", "GB"), ("0771#9", "GB"), (None, "GB"),
    ("", "GB"), ("+0123456789", "GB"), (" +44 771 2345678 ", None), ("n/a", "US"),
    ("tel:+49-151-1000000", None), (" TEL:0151-1000000;phone-context=+49", "DE"), ("tel:", "DE"),
    ("49 151 1000000", "DE"), ("49 (0) 151 1000000", "DE"), ("491 1234567", "DE"), ("49151", "DE"),
    ("49 151 10000000000", "DE"), ("49 151 1000000", "FR"), ("33 6 12 34 56 78", "FR"),
    ("420 603 123 456", "CZ"), ("603 123 456", "CZ"), ("39 333 1234567", "IT"),
    ("393 1234567", "IT"), ("6512 3456 7", "SG"), ("1 212 555 0100", "CA"),
)  # fmt: skip


def test_a_mailbox_and_a_number_have_one_spelling(lake: Lake) -> None:
    given = [(email, None, None) for email in EMAILS] + [(None, *phone) for phone in PHONES]
    frame = lake.spark.createDataFrame(given, "email string, phone string, country string")
    found = normalized(frame).collect()
    for row in found:
        assert row["email_normalized"] == people.mailbox(row["email"]), row
        assert row["phone_normalized"] == people.e164(row["phone"], row["country"]), row
    assert len({row["email_normalized"] for row in found}) > 4
    assert len({row["phone_normalized"] for row in found}) > 3


def test_a_number_of_italy_keeps_its_zero(lake: Lake) -> None:
    columns = "email string, phone string, country string"
    frame = lake.spark.createDataFrame([(None, "06 1234567", "IT")], columns)
    assert [row["phone_normalized"] for row in normalized(frame).collect()] == ["+39061234567"]


@pytest.mark.parametrize(("phone", "country", "meant"), [
    ("tel:+49-151-1000000", None, "+491511000000"), ("49 151 1000000", "DE", "+491511000000"),
    ("tel:0151-1000000;phone-context=+49", "DE", "+491511000000"),
    ("4941 123456", "DE", "+494941123456"),  # Aurich's, without the 0: it may be that one
    ("39 333 1234567", "IT", "+393331234567"), ("393 1234567", "IT", "+393931234567"),
])  # fmt: skip
def test_a_calling_code_is_known_where_no_number_within_could_begin_so(
    lake: Lake, phone: str, country: str | None, meant: str
) -> None:
    columns = "email string, phone string, country string"
    frame = lake.spark.createDataFrame([(None, phone, country)], columns)
    assert [row["phone_normalized"] for row in normalized(frame).collect()] == [meant]


@pytest.mark.parametrize(("mailbox", "kept"), [
    ("info@example.com", False), ("information@example.com", True), ("ada@info.example", True),
])  # fmt: skip
def test_a_mailbox_of_a_role_is_nobodys(lake: Lake, mailbox: str, kept: bool) -> None:
    frame = lake.spark.createDataFrame([(mailbox,)], "mailbox string")
    (row,) = frame.selectExpr(f"{personal('mailbox')} as found").collect()
    assert row["found"] == (mailbox if kept else None)


def test_what_the_truth_knows_is_the_same_here() -> None:
    assert set(ROLES) == people.ROLES
    assert people.DIALLED.items() <= DIALLED.items()
