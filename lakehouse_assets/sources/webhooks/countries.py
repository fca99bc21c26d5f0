"""Where people live: how their phone numbers are built and dialled, money, cities."""

from dataclasses import dataclass
from typing import NamedTuple

_PRIME = 7_368_787  # divides no country's space, so that each serial has a number of its own


@dataclass(frozen=True)
class Country:
    """`trunk`: what is dialled before a national number; `low`: the least of its seven digits."""

    code: str
    name: str
    calling: str
    trunk: str
    prefixes: tuple[str, ...]
    low: int
    currency: str
    locale: str
    places: tuple[tuple[str, str, str, str], ...]  # city, province, its code, postal code


class Number(NamedTuple):
    """A phone number in parts, `rest` always of seven digits."""

    country: Country
    prefix: str
    rest: str

    def e164(self) -> str:
        return f"+{self.country.calling}{self.prefix}{self.rest}"


US = Country("US", "United States", "1", "1", ("212", "312", "415", "617", "713", "206"),
             2_000_000, "USD", "en_US", (
    ("New York", "New York", "NY", "10001"), ("Chicago", "Illinois", "IL", "60601"),
    ("Austin", "Texas", "TX", "73301"), ("Seattle", "Washington", "WA", "98101"),
))  # fmt: skip
GB = Country("GB", "United Kingdom", "44", "0", ("771", "780", "795"), 0, "GBP", "en_GB", (
    ("London", "England", "ENG", "E1 6AN"), ("Leeds", "England", "ENG", "LS1 4DY"),
    ("Glasgow", "Scotland", "SCT", "G1 1XQ"),
))  # fmt: skip
DE = Country("DE", "Germany", "49", "0", ("1511", "1512", "1575"), 0, "EUR", "de_DE", (
    ("Berlin", "Berlin", "BE", "10115"), ("München", "Bayern", "BY", "80331"),
    ("Köln", "Nordrhein-Westfalen", "NW", "50667"),
))  # fmt: skip
FR = Country("FR", "France", "33", "0", ("61", "62", "66"), 0, "EUR", "fr_FR", (
    ("Paris", "Île-de-France", "IDF", "75001"), ("Lyon", "Auvergne-Rhône-Alpes", "ARA", "69001"),
))  # fmt: skip
CA = Country("CA", "Canada", "1", "1", ("416", "604", "514"), 2_000_000, "CAD", "en_CA", (
    ("Toronto", "Ontario", "ON", "M5H 2N2"), ("Vancouver", "British Columbia", "BC", "V5K 0A1"),
))  # fmt: skip
AU = Country("AU", "Australia", "61", "0", ("41", "43", "45"), 0, "AUD", "en_AU", (
    ("Sydney", "New South Wales", "NSW", "2000"), ("Perth", "Western Australia", "WA", "6000"),
))  # fmt: skip

COUNTRIES = {country.code: country for country in (US, GB, DE, FR, CA, AU)}
SHARES = {US: 50, GB: 14, DE: 12, FR: 10, CA: 8, AU: 6}
CURRENCIES = {"USD": 2, "EUR": 2, "GBP": 2, "CAD": 2, "AUD": 2, "JPY": 0}  # digits of the cents


def number(country: Country, serial: int) -> Number:
    """Other serials, other numbers: up to some ten millions in each country."""
    space = 10_000_000 - country.low
    place = serial * _PRIME % (space * len(country.prefixes))
    return Number(
        country, country.prefixes[place // space], f"{country.low + place % space:07}"
    )
