"""What the shop's seeder is asked for over HTTP, in which bounds, and what it answers."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lakehouse_assets.sources.storefront.live import MAX_RATE
from lakehouse_assets.sources.storefront.seeding import Sizes

USUAL = Sizes()
MAX_CUSTOMERS, MAX_PRODUCTS, MAX_ORDERS = 500_000, 50_000, 2_000_000
MAX_SEED = 2**63 - 1


class Asked(BaseModel):
    """A misspelt field is an error, as is a number written as text."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Seed(Asked):
    customers: int = Field(USUAL.customers, ge=1, le=MAX_CUSTOMERS)
    products: int = Field(USUAL.products, ge=1, le=MAX_PRODUCTS)
    orders: int = Field(USUAL.orders, ge=0, le=MAX_ORDERS)
    seed: int = Field(7, ge=0, le=MAX_SEED)
    add: bool = Field(False, description="Also if there is a shop already.")


class Start(Asked):
    rate: float = Field(5.0, gt=0, le=MAX_RATE, description="Transactions per second.")
    seed: int = Field(7, ge=0, le=MAX_SEED)


class Seeded(BaseModel):
    rows: dict[str, int] = Field(description="Written to each table.")


class TrafficState(BaseModel):
    on: bool
    rate: float = Field(description="Transactions per second.")
    seed: int
    transactions: int = Field(description="Since it was last started.")
    kinds: dict[str, int]
    error: str | None = Field(description="Why it ended, if it was not stopped.")


class Health(BaseModel):
    database: Literal["up", "away"]
    rows: dict[str, int] = Field(description="Of each table, estimated.")
    traffic: TrafficState


class Refusal(BaseModel):
    error: str
    message: str


ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"description": why, "model": Refusal}
    for status, why in {
        400: "Not UTF-8.",
        403: "A page of another site asks.",
        409: "Not now: there is data already, or somebody else writes to the shop.",
        422: "Not JSON, a field that is not known, or out of bounds.",
        503: "The database does not answer.",
    }.items()
}
