"""The people, cards and merchants that payments are about: made by Faker once, then drawn from.

Everything is kept as JSON text, ready to be put into an event; a Faker call per event would take
ten times as long as the event itself.
"""

from dataclasses import dataclass
from functools import lru_cache
from random import Random

from lakehouse_assets.sources.event import scatter, token
from lakehouse_assets.sources.payments.record import Fields, text

CUSTOMERS = 2_000
MERCHANTS = 150
DESCRIPTIONS = 400
SUBSCRIBERS = 3  # one customer of so many has a standing subscription

LOCALES = {  # where customers live: locale, country, currency, share
    "en_US": ("US", "USD", 48),
    "en_GB": ("GB", "GBP", 13),
    "de_DE": ("DE", "EUR", 12),
    "fr_FR": ("FR", "EUR", 10),
    "en_CA": ("CA", "CAD", 8),
    "en_AU": ("AU", "AUD", 6),
    "ja_JP": ("JP", "JPY", 3),
}
METHODS = ("card", "card", "card", "apple_pay", "google_pay")
BRANDS = ("visa", "visa", "mastercard", "amex", "discover")
SEGMENTS = ("consumer", "consumer", "consumer", "small_business", "enterprise")
CATEGORIES = ("groceries", "electronics", "travel", "software", "fashion", "gambling")


@dataclass(frozen=True)
class Pools:
    """What is drawn from for each new thing. Customers' and merchants' tuples run parallel."""

    customers: tuple[Fields, ...]
    emails: tuple[str, ...]
    names: tuple[str, ...]
    subscriptions: tuple[str, ...]  # a customer's standing one, or null
    merchants: tuple[Fields, ...]
    merchant_countries: tuple[str, ...]
    descriptions: tuple[str, ...]


@lru_cache(maxsize=4)
def pools(seed: int) -> Pools:
    """The pools of one seed; the tuples are shared, so whoever draws from them copies first."""
    from faker import Faker  # half a second of imports that only a running generator should pay

    rng, name = Random(f"pools/{seed}"), token(seed)
    fakers = {locale: Faker(locale) for locale in LOCALES}
    for locale, fake in fakers.items():
        fake.seed_instance(f"{locale}/{seed}")
    shares = [share for _, _, share in LOCALES.values()]
    homes = rng.choices(list(LOCALES), weights=shares, k=CUSTOMERS)
    seats = rng.choices(list(LOCALES), weights=shares, k=MERCHANTS)
    phrase = fakers["en_US"].catch_phrase
    return Pools(
        customers=tuple(
            _customer(rng, f"{name}{number}", home, fakers[home].postcode())
            for number, home in enumerate(homes)
        ),
        emails=tuple(
            text(f"{fakers[home].user_name()}{number}@{fakers[home].safe_domain_name()}")
            for number, home in enumerate(homes)
        ),
        names=tuple(text(fakers[home].name()) for home in homes),
        subscriptions=tuple(
            "null" if number % SUBSCRIBERS else f'"sub_{name}{number}"'
            for number in range(CUSTOMERS)
        ),
        merchants=tuple(
            {
                "merchant_id": text(f"mer_{name}{number}"),
                "merchant_name": text(fakers[seat].company()),
            }
            for number, seat in enumerate(seats)
        ),
        merchant_countries=tuple(text(LOCALES[seat][0]) for seat in seats),
        descriptions=tuple(text(f"{rng.randint(1, 9)} × {phrase()}") for _ in range(DESCRIPTIONS)),
    )


def _customer(rng: Random, name: str, locale: str, postal_code: str) -> Fields:
    country, currency, _ = LOCALES[locale]
    return {
        "customer_id": text(f"cus_{name}"),
        "currency": text(currency),
        "payment_method_id": text(f"pm_{scatter(rng.getrandbits(63))}"),
        "payment_method_type": text(rng.choice(METHODS)),
        "card_brand": text(rng.choice(BRANDS)),
        "card_last4": text(f"{rng.randrange(10_000):04}"),
        "card_exp_month": str(rng.randint(1, 12)),
        "card_exp_year": str(rng.randint(2027, 2032)),
        "card_country": text(country),
        "billing_country": text(country),
        "billing_postal_code": text(postal_code),
    }
