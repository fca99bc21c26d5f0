"""How much of each kind of dirt the lineage events have: shares of the records."""

from dataclasses import asdict, dataclass
from typing import Any

TOPIC = "lineage-input"


@dataclass(frozen=True)
class Dirt:
    """Planted share of the records, by kind (0..1); together at most 1."""

    undecodable: float = 0.002  # cut short, with bytes too many, text, nothing at all
    other_schema: float = 0.002  # well-formed Avro of another schema
    null_value: float = 0.001

    def __post_init__(self) -> None:
        rates = self.rates()
        if not all(0 <= rate <= 1 for rate in rates.values()) or sum(rates.values()) > 1 + 1e-9:
            raise ValueError(f"Dirt: rates lie in 0..1 and sum to at most 1, got {rates}")

    def rates(self) -> dict[str, float]:
        return asdict(self)

    @classmethod
    def only(cls, **settings: Any) -> "Dirt":
        """Nothing but the kinds named."""
        clean: dict[str, Any] = dict.fromkeys(cls().rates(), 0.0)
        return cls(**clean | settings)


KINDS = {TOPIC: tuple(Dirt().rates())}
