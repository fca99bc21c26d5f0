"""How one says how much of each kind of dirt a generator plants: `kind=rate`, as often as wanted.

Which kinds there are and their usual rates is each source's own matter.
"""

import difflib
from collections.abc import Collection, Mapping

ALIKE = 0.5  # of 1; names less alike than this are not offered


def read_rates(
    said: Collection[str], usual: Mapping[str, float], kinds: Mapping[str, Collection[str]]
) -> dict[str, float]:
    """The usual rates with those that were said; a ValueError tells what is wrong with them.

    `kinds`: those that each topic has.
    """
    rates = dict(usual)
    for one in said:
        kind, _, number = one.partition("=")
        if kind not in usual:
            near = difflib.get_close_matches(kind, usual, cutoff=ALIKE)
            hint = f"Did you mean {', '.join(near)}?" if near else f"There are: {', '.join(usual)}."
            raise ValueError(f"There is no kind of dirt {kind}. {hint}")
        try:
            rates[kind] = float(number)
        except ValueError:
            raise ValueError(f"{one}: say a share of the records, e.g. {kind}=0.01") from None
        if not 0 <= rates[kind] <= 1:
            raise ValueError(f"{one}: the rate is a share of the records, from 0 to 1")
    for topic, own in kinds.items():
        planted = sum(rates[kind] for kind in own)
        if planted > 1 + 1e-9:
            others = [kind for kind in own if rates[kind] == usual[kind]] or list(own)
            most = max(others, key=lambda kind: rates[kind])
            raise ValueError(
                f"The rates of all kinds add up to {planted:.4g} in {topic}, and a record has at "
                f"most one. Lower some, e.g. {most}=0"
            )
    return rates


def told(rates: Mapping[str, float]) -> str:
    return ", ".join(f"{kind} {rate:g}" for kind, rate in rates.items())
