"""One vocabulary for all providers, as SQL: what words mean and how much amounts are."""

from collections.abc import Iterable

from lakehouse_assets.sources.payments.providers import CURRENCIES, IN_MINOR_UNITS, Meanings

CARD = "coalesce(payment_method_id, card_brand || card_last4)"  # a means of payment, as far as told


def meant(meanings: Meanings, provider: str, word: str) -> str:
    """What the provider means by its word, which is in lower case here; NULL if nobody knows."""
    cases = [
        f"when {provider} = '{name}' and lower({word}) in ({_listed(map(str.lower, words))}) "
        f"then '{meaning}'"
        for name, known in meanings.items()
        for meaning, words in known.items()
    ]
    return f"case {' '.join(cases)} end"


def exponent(currency: str) -> str:
    """How many digits the currency has behind the point."""
    digits = {n: [c for c, d in CURRENCIES.items() if d == n] for n in set(CURRENCIES.values())}
    cases = [f"when {currency} in ({_listed(known)}) then {n}" for n, known in digits.items()]
    return f"case {' '.join(cases)} end"


def minor_units(amount: str, provider: str, currency: str) -> str:
    """In the smallest unit of the currency; NULL where only a known currency could tell."""
    scaled = f"{amount} * cast(pow(10, {exponent(currency)}) as int)"
    return f"cast(round(if({_in_minor(provider)}, {amount}, {scaled})) as bigint)"


def units(amount: str, provider: str, currency: str) -> str:
    """In units of the currency, two digits behind the point; NULL as above."""
    scaled = f"{amount} / cast(pow(10, {exponent(currency)}) as int)"
    return f"cast(if({_in_minor(provider)}, {scaled}, {amount}) as decimal(12,2))"


def _in_minor(provider: str) -> str:
    return f"{provider} in ({_listed(IN_MINOR_UNITS)})"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)
