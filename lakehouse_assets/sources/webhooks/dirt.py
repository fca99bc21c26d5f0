"""How much of each kind of dirt the webhooks have: shares of the requests.

A request carries at most one planted kind. One that suits only orders waits for the next of them.
"""

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

MIN_LATE = timedelta(minutes=2)


@dataclass(frozen=True)
class Dirt:
    """Planted share of the requests, by kind (0..1); together at most 1."""

    # Delivered once more, or not when it should be.
    redelivery: float = 0.01  # the same webhook ids; HubSpot counts its attempts
    late: float = 0.01  # made some time ago
    out_of_order: float = 0.005  # an update of somebody, after the one that followed it
    stale_order: float = 0.005  # an update of an order, after the one that followed it
    # Good, and odd.
    unknown_field: float = 0.005
    off_total: float = 0.003  # an order whose total is some cents off
    # Set aside.
    no_list: float = 0.002  # line items that are not a list
    malformed: float = 0.003  # a value that is none of its kind

    late_up_to: timedelta = timedelta(days=3)

    def __post_init__(self) -> None:
        rates = self.rates()
        if not all(0 <= rate <= 1 for rate in rates.values()) or sum(rates.values()) > 1 + 1e-9:
            raise ValueError(f"Dirt: rates lie in 0..1 and sum to at most 1, got {rates}")
        if self.late_up_to <= MIN_LATE:
            raise ValueError(f"Dirt: late_up_to must exceed {MIN_LATE}, got {self.late_up_to}")

    def rates(self) -> dict[str, float]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.type is float}

    @classmethod
    def only(cls, **settings: Any) -> "Dirt":
        """Nothing but the kinds named."""
        clean: dict[str, Any] = dict.fromkeys(cls().rates(), 0.0)
        return cls(**clean | settings)


KINDS = {"webhooks": tuple(Dirt().rates())}  # all vendors' requests share the rates
