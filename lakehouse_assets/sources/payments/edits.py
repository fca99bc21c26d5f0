"""What each kind of dirt that several topics share does to an event, or to its bytes."""

from collections.abc import Callable
from random import Random

from lakehouse_assets.sources.payments.dirt import Dirt
from lakehouse_assets.sources.payments.record import ABSENT, EXTRA, Fields, minor_units, text

# Event, chance, how often before, all rates; False: it does not suit this event.
Edit = Callable[[Fields, Random, int, Dirt], bool | None]

NULLS = ("null", '"NULL"', '"null"', '""', '"None"', '"n/a"', '"nil"', '" "')
NOT_COUNTRIES = ('"342"', '"999"', '"USA"', '"us"', '"00"')


def put(column: str, *values: str) -> Edit:
    """One of these values, in turn."""

    def edit(event: Fields, rng: Random, turn: int, _: Dirt) -> None:
        event[column] = values[turn % len(values)]

    return edit


def nulls(*columns: str) -> Edit:
    """Some spelling of nothing in two of the columns."""

    def edit(event: Fields, rng: Random, turn: int, _: Dirt) -> None:
        for column in (columns[turn % len(columns)], rng.choice(columns)):
            event[column] = rng.choice(NULLS)

    return edit


def inner(column: str, member: str, *values: str) -> Edit:
    """One of these values, in turn, in the last member of an object."""

    def edit(event: Fields, rng: Random, turn: int, _: Dirt) -> None:
        head = event[column].rpartition(f'"{member}":')[0]
        event[column] = f'{head}"{member}":{values[turn % len(values)]}}}'

    return edit


def in_turn(*edits: Edit) -> Edit:
    def edit(event: Fields, rng: Random, turn: int, dirt: Dirt) -> None:
        edits[turn % len(edits)](event, rng, turn // len(edits), dirt)

    return edit


def wrong_types(*variants: tuple[str, str]) -> Edit:
    def edit(event: Fields, rng: Random, turn: int, _: Dirt) -> None:
        column, value = variants[turn % len(variants)]
        event[column] = value

    return edit


def turned(column: str, value: str) -> Callable[[Fields], None]:
    """This value, or nothing where it stands already."""

    def amend(event: Fields) -> None:
        event[column] = "null" if event[column] == value else value

    return amend


def amend_amount(event: Fields) -> None:
    more = minor_units(event["amount"]) + 1
    decimal = "." in event["amount"]
    event["amount"] = f"{more // 100}.{more % 100:02}" if decimal else str(more)


def mixed_case(event: Fields, rng: Random, turn: int, _: Dirt) -> None:
    provider = event["provider"][1:-1]
    spellings = (provider.upper(), provider.lower(), provider.swapcase(), f" {provider} ")
    event["provider"] = text(spellings[turn % len(spellings)])
    if rng.random() < 0.3:
        event["status"] = event["status"].title()


def unknown_field(event: Fields, rng: Random, turn: int, _: Dirt) -> None:
    inside = next((c for c, value in event.items() if value.startswith("{")), None)
    if turn % 2 and inside:
        event[inside] = f'{event[inside][:-1]},"utm_source":"newsletter"}}'
    else:
        event[EXTRA] = ',"loyalty":{"tier":"gold","points":' + str(rng.randrange(5_000)) + "}"


def negative_amount(event: Fields, rng: Random, turn: int, _: Dirt) -> None:
    column = "amount" if "amount" in event else "plan_amount"
    event[column] = f"-{event[column]}"


def unknown_currency(event: Fields, rng: Random, turn: int, _: Dirt) -> None:
    event["currency" if "currency" in event else "plan_currency"] = ('"XXX"', '"euro"')[turn % 2]


def oversized(column: str) -> Edit:
    """Hex digits, because a filler that compresses away would not be large for the broker."""

    def edit(event: Fields, rng: Random, turn: int, dirt: Dirt) -> None:
        event[column] = f'"{rng.randbytes(dirt.oversized_bytes // 2).hex()}"'

    return edit


COMMON: dict[str, Edit] = {
    "mixed_case": mixed_case,
    "unknown_field": unknown_field,
    "missing_event_id": put("event_id", ABSENT, "null", '""', '"NULL"'),
    "negative_amount": negative_amount,
    "unknown_currency": unknown_currency,
    "far_future": put("updated_at", '"2099-12-31T23:59:59.000Z"'),
}
SET_ASIDE = frozenset({
    "wrong_type", "malformed", "missing_event_id", "missing_key", "unknown_currency",
    "negative_amount", "far_future", "null_status", "null_currency", "oversized",
})  # fmt: skip


def malformed(value: bytes, rng: Random, turn: int) -> bytes:
    """The variants take turns: cut short, no JSON, array, scalar, invalid UTF-8, empty."""
    variants = (
        value[: rng.randrange(1, len(value))],
        b"<html>502 Bad Gateway</html>",
        b"[" + value + b"]",
        rng.choice((b"42", b'"charge"', b"true", b"null")),
        value.replace(b'":"', b'":"\xff\xfe', 1),
        b"",
    )
    return variants[turn % len(variants)]
