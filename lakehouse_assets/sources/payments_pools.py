"""The people, cards and merchants that charges are about: made by Faker once, then drawn from.

Everything is kept as JSON text, ready to be put into an event; a Faker call per event would take
ten times as long as the event itself.
"""

from dataclasses import dataclass
from functools import lru_cache
from random import Random

from lakehouse_assets.sources.event import scatter, token
from lakehouse_assets.sources.payments_record import Fields, text

CUSTOMERS = 2_000
MERCHANTS = 150
DESCRIPTIONS = 400

LOCALES = {  # where customers live: locale, country, currency, share
    "en_US": ("US", "USD", 50),
    "en_GB": ("GB", "GBP", 14),
    "de_DE": ("DE", "EUR", 12),
    "fr_FR": ("FR", "EUR", 10),
    "en_CA": ("CA", "CAD", 8),
    "en_AU": ("AU", "AUD", 6),
}
METHODS = ("card", "card", "card", "apple_pay", "google_pay")
BRANDS = ("visa", "visa", "mastercard", "amex", "discover")
FAILURES = (
    ("card_declined", "Your card was declined."),
    ("insufficient_funds", "Your card has insufficient funds."),
    ("expired_card", "Your card has expired."),
    ("incorrect_cvc", "Your card's security code is incorrect."),
    ("processing_error", "An error occurred while processing your card."),
)


@dataclass(frozen=True)
class Pools:
    """What is drawn from for each new charge; `emails` runs parallel to `customers`."""

    customers: tuple[Fields, ...]
    emails: tuple[str, ...]
    merchants: tuple[Fields, ...]
    descriptions: tuple[str, ...]


@lru_cache(maxsize=4)
def pools(seed: int) -> Pools:
    """The pools of one seed; the tuples are shared, so whoever draws from them copies first."""
    from faker import Faker  # half a second of imports that only a running generator should pay

    rng = Random(f"pools/{seed}")
    fakers = {locale: Faker(locale) for locale in LOCALES}
    for locale, fake in fakers.items():
        fake.seed_instance(f"{locale}/{seed}")
    shares = [share for _, _, share in LOCALES.values()]
    homes = rng.choices(list(LOCALES), weights=shares, k=CUSTOMERS)
    customers, emails = [], []
    for number, locale in enumerate(homes):
        fake = fakers[locale]
        customers.append(_customer(rng, f"{token(seed)}{number}", locale, fake.postcode()))
        emails.append(text(f"{fake.user_name()}{number}@{fake.safe_domain_name()}"))
    merchants = [
        _merchant(f"{token(seed)}{number}", fakers[rng.choice(homes)].company())
        for number in range(MERCHANTS)
    ]
    phrase = fakers["en_US"].catch_phrase
    descriptions = [text(f"{rng.randint(1, 9)} × {phrase()}") for _ in range(DESCRIPTIONS)]
    return Pools(tuple(customers), tuple(emails), tuple(merchants), tuple(descriptions))


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


def _merchant(name: str, company: str) -> Fields:
    return {"merchant_id": text(f"mer_{name}"), "merchant_name": text(company)}
