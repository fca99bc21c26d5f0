"""How one and the same e-mail, phone number or name is written in different systems."""

import unicodedata
from functools import lru_cache
from random import Random

from lakehouse_assets.sources.webhooks.countries import Number

ROLES = ("info", "sales", "office", "support", "billing")
TAGS = ("shop", "news", "stripe", "orders", "crm")
PLAIN, TAGGED, LOWER, UPPER, TITLE, PADDED = range(6)
HOW = (PLAIN,) * 11 + (LOWER,) * 2 + (TAGGED,) * 3 + (TITLE,) * 2 + (UPPER, PADDED)


def email(rng: Random, address: str) -> str:
    """Another spelling that reaches the same mailbox."""
    how = HOW[int(rng.random() * len(HOW))]
    if how == TAGGED:
        local, _, domain = address.partition("@")
        return f"{local}+{TAGS[int(rng.random() * len(TAGS))]}@{domain}"
    if how == UPPER:
        return address.upper()
    if how == TITLE:
        return address.title()
    return f" {address} " if how == PADDED else address


def typo(rng: Random, address: str) -> str:
    """Two letters of the name have changed places: another mailbox, or none."""
    last = address.index(".") - 1
    places = [n for n in range(last) if address[n] != address[n + 1]]
    if not places:
        return f"x{address}"
    place = places[int(rng.random() * len(places))]
    return f"{address[:place]}{address[place + 1]}{address[place]}{address[place + 2 :]}"


def phone(rng: Random, number: Number, is_country_told: bool = True) -> str:
    """Dialled from abroad, or from within where the record tells the country."""
    (country, prefix, rest), draw = number, int(rng.random() * 9)
    near, far = rest[:3], rest[3:]
    if draw < 2 or (draw > 5 and not is_country_told):
        return number.e164()
    if draw == 2:
        return f"+{country.calling} {prefix} {near} {far}"
    if draw == 3:
        return f"00{country.calling} {prefix} {near}{far}"
    if draw == 4:
        return f"+{country.calling}.{prefix}.{near}.{far}"
    if country.trunk == "0":
        if draw == 5:
            return f"+{country.calling} (0) {prefix} {near} {far}"
        return f"0{prefix} {near}{far}" if draw < 8 else f"(0{prefix}) {near}-{far}"
    if draw == 5:
        return f"+{country.calling} ({prefix}) {near}-{far}"
    return f"({prefix}) {near}-{far}" if draw < 8 else f"1-{prefix}-{near}-{far}"


def name(rng: Random, said: str) -> str:
    draw = rng.random()
    if draw < 0.80:
        return said
    if draw < 0.86:
        return said.upper()
    if draw < 0.92:
        return said.lower()
    return ascii_only(said) if draw < 0.96 else f"{said[0]}."


@lru_cache(maxsize=20_000)
def ascii_only(said: str) -> str:
    """Without accents, as many a form wants it."""
    plain = said.replace("ß", "ss").replace("ø", "o").replace("æ", "ae")
    return unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()


@lru_cache(maxsize=20_000)
def slug(said: str) -> str:
    """Fit for an address: letters alone, in lower case."""
    return "".join(letter for letter in ascii_only(said).lower() if letter.isalpha())
