"""Which records the rules of resolution take for one person, and how right that is.

Two records are linked when their e-mails are the same mailbox or their phones the same number;
linked ones of linked ones are one group. Which spellings are the same:

- e-mail: trimmed, lower case, what follows the first `+` of the local part left out. Dots stay:
  that they mean nothing is one provider's habit. Not one `@` between something and a name with a
  dot: none. A mailbox of a role (ROLES) belongs to nobody.
- phone: E.164. An extension (`ext`, `x`, `#`) is cut off, `tel:` and what a `;` adds to it, too;
  `+` or `00` begin an international number, in which `(0)` is nobody's digit; any other is national
  and needs a known country: its trunk digit goes, its calling code comes. It came already if the
  number begins with it, has more digits than any national one, and without it as many as the
  longest or one less. Not 8 to 15 digits: none.

A mailbox that more than EMAIL_RECORDS records have, or a phone that more than PHONE_RECORDS have,
links nobody: it belongs to a firm or a family. Records that were deleted are no records.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple, TypeVar

EMAIL_RECORDS, PHONE_RECORDS = 10, 4
CAPS = {"email": EMAIL_RECORDS, "phone": PHONE_RECORDS}
ROLES = frozenset((
    "accounts", "admin", "billing", "contact", "hello", "help", "hr", "info", "mail", "noreply",
    "no-reply", "office", "orders", "postmaster", "sales", "service", "shop", "support", "team",
    "webmaster",
))  # fmt: skip
DIALLED = {  # by country: calling code, trunk digit, digits of the longest number after them
    "US": ("1", "1", 10), "CA": ("1", "1", 10), "GB": ("44", "0", 10), "DE": ("49", "0", 11),
    "FR": ("33", "0", 9), "AU": ("61", "0", 9), "AT": ("43", "0", 13), "BE": ("32", "0", 9),
    "BR": ("55", "0", 11), "CH": ("41", "0", 9), "CZ": ("420", "", 9), "DK": ("45", "", 8),
    "ES": ("34", "", 9), "FI": ("358", "0", 12), "GR": ("30", "", 10), "IE": ("353", "0", 9),
    "IL": ("972", "0", 9), "IN": ("91", "0", 10), "IT": ("39", "", 11), "JP": ("81", "0", 10),
    "KR": ("82", "0", 11), "LU": ("352", "", 11), "MX": ("52", "", 10), "NL": ("31", "0", 9),
    "NO": ("47", "", 8), "NZ": ("64", "0", 10), "PL": ("48", "", 9), "PT": ("351", "", 9),
    "SE": ("46", "0", 9), "SG": ("65", "", 8), "TR": ("90", "0", 10), "ZA": ("27", "0", 9),
}  # fmt: skip

Key = TypeVar("Key", bound=Hashable)
Group = TypeVar("Group", bound=Hashable)

_EMAIL = re.compile(r"[^ \t\r\n@]+@[^ \t\r\n@.]+(\.[^ \t\r\n@.]+)+")
_EXTENSION = re.compile(r"(ext|x|#).*", re.IGNORECASE | re.DOTALL)


class Contact(NamedTuple):
    """What the rules look at."""

    email: str | None
    phone: str | None
    country: str | None


class Score(NamedTuple):
    """Over pairs of records: found together and really one person."""

    precision: float
    recall: float
    f1: float


def mailbox(email: str | None) -> str | None:
    said = (email or "").strip(" ").lower()
    if not _EMAIL.fullmatch(said):
        return None
    local, _, domain = said.partition("@")
    local = local.partition("+")[0]
    return f"{local}@{domain}" if local else None


def is_role(email: str) -> bool:
    return email.partition("@")[0] in ROLES


def e164(phone: str | None, country: str | None) -> str | None:
    said = _EXTENSION.sub("", phone or "").strip(" ")
    if said[:4].lower() == "tel:":
        said = said[4:].partition(";")[0].strip(" ")
    digits, abroad = (re.sub("[^0-9]", "", text) for text in (said, said.replace("(0)", "")))
    if said.startswith("+") or digits.startswith("00"):
        digits = abroad if said.startswith("+") else abroad[2:]
    elif country in DIALLED:
        calling, trunk, longest = DIALLED[country]
        rest = abroad.removeprefix(calling)
        is_there = rest != abroad and len(abroad) > longest and longest - len(rest) in (0, 1)
        digits = abroad if is_there else calling + digits.removeprefix(trunk)
    else:
        return None
    return f"+{digits}" if 8 <= len(digits) <= 15 and digits[0] != "0" else None


def links(contact: Contact) -> list[tuple[str, str]]:
    """The blocks that a record lies in: kind of key, key."""
    email, phone = mailbox(contact.email), e164(contact.phone, contact.country)
    found = [("email", email)] if email and not is_role(email) else []
    return found + ([("phone", phone)] if phone else [])


def groups(records: Mapping[Key, Contact]) -> dict[Key, Key]:
    """Each record's group, named by the record of it that was given first."""
    blocks: dict[tuple[str, str], list[Key]] = defaultdict(list)
    for key, contact in records.items():
        for link in links(contact):
            blocks[link].append(key)
    leader = {key: key for key in records}

    def found(key: Key) -> Key:
        while leader[key] != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    order = {key: place for place, key in enumerate(records)}
    for (kind, _), members in blocks.items():
        if len(members) > CAPS[kind]:
            continue
        for member in members[1:]:
            first, second = sorted((found(members[0]), found(member)), key=order.__getitem__)
            leader[second] = first
    return {key: found(key) for key in records}


def score(found: Mapping[Key, Group], real: Mapping[Key, Group]) -> Score:
    """Of the groups against who is who, over the records that were grouped."""
    both = _pairs((found[key], real[key]) for key in found)
    ours, theirs = _pairs(found.values()), _pairs(real[key] for key in found)
    precision, recall = both / ours if ours else 1.0, both / theirs if theirs else 1.0
    return Score(precision, recall, 2 * both / (ours + theirs) if ours + theirs else 1.0)


def _pairs(of: Iterable[Hashable]) -> int:
    return sum(n * (n - 1) // 2 for n in Counter(of).values())
