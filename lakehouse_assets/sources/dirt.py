"""How one says how much of each kind of dirt a generator plants, `kind=rate`, and which record
gets which.

Which kinds there are and their usual rates is each source's own matter.
"""

import difflib
from collections.abc import Collection, Mapping
from heapq import heapify, heappop, heappush
from random import Random

from lakehouse_assets.sources.event import CLEAN

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


class Schedule:
    """Which record gets which dirt: one of every 1/rate records, at a seeded place among them.

    So each kind comes out at its rate to within a record or two, and changing one rate moves the
    others by no more than a place lost to a collision.
    """

    def __init__(self, seed: object, rates: dict[str, float]) -> None:
        self._rates = {kind: rate for kind, rate in rates.items() if rate > 0}
        self._rngs = {kind: Random(f"{kind}/{seed}") for kind in self._rates}
        self._turns = dict.fromkeys(self._rates, 0)
        self._due = [(self._place(kind), kind) for kind in self._rates]
        heapify(self._due)

    def at(self, slot: int) -> str:
        """The kind due at this record; of two that fall together the second goes to the next."""
        if not self._due or self._due[0][0] > slot:
            return CLEAN
        _, kind = heappop(self._due)
        self._turns[kind] += 1
        heappush(self._due, (self._place(kind), kind))
        return kind

    def turn(self, kind: str) -> int:
        """How often this kind came before; variants of a kind take turns."""
        return self._turns[kind] - 1

    def postpone(self, kind: str, slot: int) -> None:
        """Try this kind once more at a later record, because there was nothing to repeat."""
        self._turns[kind] -= 1
        self._due = [due for due in self._due if due[1] != kind] + [(slot, kind)]
        heapify(self._due)

    def _place(self, kind: str) -> int:
        return int((self._turns[kind] + self._rngs[kind].random()) / self._rates[kind])
