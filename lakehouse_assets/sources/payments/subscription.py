"""Subscriptions of the charge feed's customers: created, updated, canceled."""

from collections.abc import Mapping
from random import Random
from typing import Any, ClassVar

from lakehouse_assets.sources.event import Event, iso_ms
from lakehouse_assets.sources.payments import edits
from lakehouse_assets.sources.payments.dirt import Dirt
from lakehouse_assets.sources.payments.feed import Feed
from lakehouse_assets.sources.payments.providers import INTERVALS, PROVIDERS, SPELLED
from lakehouse_assets.sources.payments.record import SUBSCRIPTIONS, Fields, money, text

PATHS = (
    ("trialing", "active", "active", "past_due", "active", "canceled"),
    ("trialing", "active", "active"),
    ("trialing", "canceled"),
    ("active", "active", "canceled"),
    ("active", "past_due", "canceled"),
    ("active", "active", "active"),
)
PLANS = (  # id, name, interval, price in hundredths
    ("basic", "Basic", "month", 900),
    ("team", "Team", "month", 2_900),
    ("business", "Business", "month", 9_900),
    ("basic_year", "Basic, yearly", "year", 9_000),
    ("business_year", "Business, yearly", "year", 99_000),
    ("pass", "Weekly pass", "week", 500),
)
COUPONS = (("WELCOME", "10"), ("SPRING", "25"), ("FRIENDS", "50"))
TRIAL_MS = 14 * 86_400_000
UPGRADES = 0.4  # share of the updates that change the plan
NONE = {"discount_percent": "null", "coupon_code": "null", "promo_code": "null"}


def _null_trial(event: Fields, rng: Random, turn: int, _: Dirt) -> bool:
    if event["status"] != '"trialing"':
        return False
    event.update(dict.fromkeys(("trial_start_at", "trial_end_at")[turn % 2 :], "null"))
    return True


def _missing_promo(event: Fields, rng: Random, turn: int, _: Dirt) -> bool:
    if event["discount_percent"] == "null":
        return False
    event["promo_code"] = edits.NULLS[turn % len(edits.NULLS)]
    return True


class SubscriptionFeed(Feed):
    shape = SUBSCRIPTIONS
    every = 6
    open_limit = 1_000
    moving = 0.65
    own_edits: ClassVar[Mapping[str, edits.Edit]] = {
        "null_spelling": edits.nulls("customer_id", "merchant_id", "plan_name", "coupon_code"),
        "null_trial": _null_trial,
        "missing_promo": _missing_promo,
        "interval_spelling": lambda event, rng, turn, _: event.update(
            plan_interval=text(rng.choice(INTERVALS[event["plan_interval"][1:-1]][1:]))
        ),
        "missing_key": edits.put("subscription_id", "null", '""', '"null"'),
        "wrong_type": edits.wrong_types(
            ("plan_amount", '"twelve"'), ("discount_percent", '"half"'), ("created_at", "0"),
        ),
        "oversized": edits.oversized("plan_name"),
    }  # fmt: skip
    amendments = (
        edits.turned("plan_name", '"Renamed plan"'),
        edits.turned("coupon_code", '"LOYAL"'),
        edits.turned("merchant_id", '"mer_other"'),
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._repeats["after_cancel"] = self._after_cancel
        self._waiting = [w for w, s in enumerate(self.pools.subscriptions) if s != "null"]
        self.rng.shuffle(self._waiting)

    def begin(self, at: int) -> Fields:
        """A customer's standing subscription, or one more once all of those have begun."""
        draw, pool = self.rng.random, self.pools
        again = not self._waiting
        who = int(draw() * len(pool.customers)) if again else self._waiting.pop()
        customer = pool.customers[who]
        provider = text(SPELLED[PROVIDERS[int(draw() * 3)]])
        coupon, percent = COUPONS[int(draw() * len(COUPONS))]
        discount = {
            "discount_percent": percent,
            "coupon_code": text(coupon),
            "promo_code": text(f"{coupon}-{who}"),
        }
        fields = {
            "provider": provider,
            "subscription_id": f'"sub_{self.number()}"' if again else pool.subscriptions[who],
            "customer_id": customer["customer_id"],
            "merchant_id": pool.merchants[who % len(pool.merchants)]["merchant_id"],
            "plan_currency": customer["currency"],
            **(discount if draw() < 0.3 else NONE),
            "canceled_at": "null",
            "created_at": f'"{iso_ms(at)}"',
            "trial_start_at": "null",
            "trial_end_at": "null",
            "extra": "",
        }
        return fields | self._plan(provider, customer["currency"])

    def path(self) -> tuple[str, ...]:
        return self.rng.choice(PATHS)

    def move(self, fields: Fields, step: str, at: int) -> None:
        fresh = "status" not in fields
        event = "canceled" if step == "canceled" else "created" if fresh else "updated"
        if step == "trialing":
            fields["trial_start_at"] = f'"{iso_ms(at)}"'
            fields["trial_end_at"] = f'"{iso_ms(at + TRIAL_MS)}"'
        if event == "updated" and step == "active" and self.rng.random() < UPGRADES:
            fields |= self._plan(fields["provider"], fields["plan_currency"])
        fields["event_id"] = f'"evt_{self.number()}"'
        fields["event_type"] = f'"subscription.{event}"'
        fields["status"] = text(step)
        fields["canceled_at"] = f'"{iso_ms(at)}"' if step == "canceled" else "null"
        fields["updated_at"] = f'"{iso_ms(at)}"'

    def _plan(self, provider: str, currency: str) -> Fields:
        plan, name, interval, price = self.rng.choice(PLANS)
        return {
            "plan_id": text(f"plan_{plan}"),
            "plan_name": text(name),
            "plan_interval": text(interval),
            "plan_amount": money(price, provider, currency),
        }

    def _after_cancel(self, at: int) -> Event | None:
        """An update of a subscription that was canceled."""
        made = self.remembered(
            lambda one: one.step == "canceled" and one.clean and one.updated < at
        )
        if made is None:
            return None
        self.move(made.fields, "active", at)
        return self.shape.record(made.fields, "after_cancel")
