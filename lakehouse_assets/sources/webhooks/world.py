"""What happens among the people, one request per slot: they appear, order, pay, change and go.

All that is remembered is bounded: who is forgotten is not heard of again. What follows at once (the
same person in the next system, an order's second webhook) waits in a short queue.
"""

from collections import deque
from collections.abc import Callable, Iterable
from random import Random
from typing import TypeVar

from lakehouse_assets.sources.webhooks import orders, shopify, stripe
from lakehouse_assets.sources.webhooks.account import Account, change, opened
from lakehouse_assets.sources.webhooks.numbers import Numbers
from lakehouse_assets.sources.webhooks.people import SOURCES, Crowd, Person, Traps
from lakehouse_assets.sources.webhooks.request import Json, Request
from lakehouse_assets.sources.webhooks.tell import Teller

ACCOUNTS, ORDERS, CHARGES, DOUBLES, COMPANIES = 3_000, 256, 512, 64, 256  # remembered of each
QUEUED = 40  # requests that wait; with more of them nothing new happens
TWICE = 0.04  # share of Shopify's customers who open a second account
TRIES = 8  # draws for something that can change now, by clocks that count seconds

Kept = TypeVar("Kept")


class World:
    """`act` makes the next clean request; some of what it draws from suits planted dirt too."""

    def __init__(self, seed: int, traps: Traps, *run: object) -> None:
        """Other runs, other ids and other people."""
        self.rng, self._traps = Random(f"webhooks/{seed}"), traps
        self._numbers, self._crowd = Numbers(seed, *run), Crowd(seed, traps, *run)
        self._tell = Teller(self.rng, self._numbers)
        self._people = (person for _ in iter(int, 1) for person in self._crowd.household())
        self.queue: deque[Request] = deque()
        self._accounts: dict[str, list[Account]] = {source: [] for source in SOURCES}
        self._orders: list[orders.Order] = []
        self._charges: list[tuple[Json, int]] = []
        self._doubles: list[tuple[Account, Account]] = []
        self._companies: list[int] = []
        self._company_of: dict[int, int] = {}
        self._made = self._others = 0
        self._acts = self._weighed()

    def _weighed(self) -> tuple[Callable[[int], Request | None], ...]:
        shares = (
            (self._appear, 14), (self.order, 20), (self._go_on, 28), (self.charge, 14),
            (self._give_back, 4), (self.update, 12), (self._company, 2), (self._grow, 1),
            (self._go, 1), (self._merge, 1), (self._other, 3),
        )  # fmt: skip
        return tuple(act for act, share in shares for _ in range(share))

    def known(self) -> list[Person]:
        """Who has an account somewhere, the first ones first."""
        accounts = [account for known in self._accounts.values() for account in known]
        accounts.sort(key=lambda account: (account.created_ms, account.id))
        return list({one.person.person_id: one.person for one in accounts}.values())

    def act(self, at: int) -> Request:
        waiting = len(self.queue)
        if waiting and (waiting > QUEUED or self.rng.random() < 0.6):
            return self.queue.popleft()
        made = self._acts[int(self.rng.random() * len(self._acts))](at)
        return made or self._appear(at)

    def order(self, at: int) -> Request | None:
        account = self._some(self._accounts["shopify"])
        if account is None:
            return None
        self._made += 1
        number = self._numbers.whole(1 + shopify.LINES)
        made = shopify.order(self.rng, number, self._made, account, at)
        path = shopify.PATHS[int(self.rng.random() * len(shopify.PATHS))]
        self._remember(self._orders, orders.Order(made, account, path, at), ORDERS)
        return self._tell.shopify("orders/create", made, at, str(number))

    def charge(self, at: int) -> Request | None:
        account = self._some(self._accounts["stripe"])
        if account is None:
            return None
        made = stripe.charge(self.rng, self._numbers.word(), account, at)
        if made["paid"]:
            self._remember(self._charges, (made, at), CHARGES)
        return self._tell.stripe(f"charge.{made['status']}", made, at)

    def update(self, at: int, source: str = "") -> Request | None:
        account = self._changeable(at, source)
        return self._changed(account, at) if account else None

    def overtaken(self, at: int) -> Request | None:
        """Two updates of somebody; the first one is left to be sent after the second."""
        account = self._changeable(at - 2_000)
        if account is None:
            return None
        self.queue.appendleft(self._changed(account, at - 2_000)._replace(kind="out_of_order"))
        return self._changed(account, at)

    def overtaken_order(self, at: int) -> Request | None:
        order = self._open(at - 2_000)
        if order is None:
            return None
        first, *more = self._steps(order, at - 2_000)
        second, *others = self._steps(order, at)
        self.queue.extendleft([first._replace(kind="stale_order")])
        self.queue.extend([*more, *others])
        return second

    def _appear(self, at: int) -> Request:
        """Somebody new, in every system that knows them."""
        person = next(self._people)
        made = [self._open_account(source, person, at) for source in person.systems]
        if "shopify" in person.systems and self.rng.random() < TWICE:
            made.append(self._open_account("shopify", person, at))
            self._remember(self._doubles, (made[0][0], made[-1][0]), DOUBLES)
        return self._first_of(request for _, told in made for request in told)

    def _open_account(
        self, source: str, person: Person, at: int
    ) -> tuple[Account, list[Request]]:
        number = f"cus_{self._numbers.word()}" if source == "stripe" else str(
            self._numbers.whole(2)
        )  # fmt: skip
        account = opened(self.rng, source, number, person, at, self._traps)
        before = []
        if source == "hubspot" and (company := person.company):
            if company.serial not in self._company_of:
                new = self._company_of[company.serial] = self._numbers.whole()
                before.append(self._tell.company(company, new, at))
            account.company = str(self._company_of[company.serial])
        self._remember(self._accounts[source], account, ACCOUNTS)
        return account, [*before, self._tell.opened(account)]

    def _go_on(self, at: int) -> Request | None:
        order = self._open(at)
        return self._first_of(self._steps(order, at)) if order else None

    def _open(self, at: int) -> orders.Order | None:
        """An order that can change now; of which something waits to be told it cannot."""
        waiting = {request.about for request in self.queue}
        for _ in range(TRIES if self._orders else 0):
            order = self._orders[int(self.rng.random() * len(self._orders))]
            if order.updated_ms // 1000 < at // 1000 and str(order.content["id"]) not in waiting:
                return order
        return None

    def _steps(self, order: orders.Order, at: int) -> list[Request]:
        made = orders.step(self.rng, order, at, self._numbers.whole(2))
        if not order.left and order in self._orders:
            self._orders.remove(order)
        about = str(order.content["id"])
        return [self._tell.shopify(topic, content, at, about) for topic, content in made]

    def _give_back(self, at: int) -> Request | None:
        """A refund, whole or half; one of four is a dispute instead."""
        if not self._charges:
            return None
        place = int(self.rng.random() * len(self._charges))
        made, updated = self._charges[place]
        if updated // 1000 >= at // 1000:
            return None
        self._charges.pop(place)
        draw = self.rng.random()
        if draw < 0.25:
            dispute = stripe.dispute(self.rng, self._numbers.word(), made, at)
            return self._tell.stripe("charge.dispute.created", dispute, at)
        made["amount_refunded"] = made["amount"] if draw < 0.75 else made["amount"] // 2
        made["refunded"] = draw < 0.75
        return self._tell.stripe("charge.refunded", made, at, {"amount_refunded": 0})

    def _changeable(self, at: int, source: str = "") -> Account | None:
        known = self._accounts[source or SOURCES[int(self.rng.random() * 3)]]
        for _ in range(TRIES):
            account = self._some(known)
            if account and account.updated_ms // 1000 < at // 1000:
                return account
        return None

    def _changed(self, account: Account, at: int) -> Request:
        before = change(self.rng, account, at, self._crowd.number(account.person.country))
        return self._tell.changed(account, before)

    def _company(self, at: int) -> Request | None:
        """A new one, to which some contact belongs from now on."""
        contact = self._some(self._accounts["hubspot"])
        if contact is None:
            return None
        company, number = self._crowd.company(contact.person.country), self._numbers.whole()
        self._remember(self._companies, number, COMPANIES)
        self.queue.append(self._tell.moved(contact, number, at))
        return self._tell.company(company, number, at)

    def _grow(self, at: int) -> Request | None:
        if not self._companies:
            return None
        place = int(self.rng.random() * len(self._companies))
        if self.rng.random() < 0.1:
            return self._tell.closed(self._companies.pop(place), at)
        return self._tell.grown(self._companies[place], at)

    def _go(self, at: int) -> Request | None:
        account = self._changeable(at)
        if account is None:
            return None
        self._accounts[account.source].remove(account)
        self._doubles = [pair for pair in self._doubles if account not in pair]
        return self._tell.deleted(account, at)

    def _merge(self, at: int) -> Request | None:
        """Two accounts of one customer become one; the other is no more."""
        if not self._doubles:
            return None
        kept, gone = self._doubles[0]
        if kept.updated_ms // 1000 >= at // 1000:
            return None
        self._doubles.pop(0)
        if gone in self._accounts["shopify"]:
            self._accounts["shopify"].remove(gone)
        kept.updated_ms = at
        self.queue.append(self._tell.changed(kept, None))
        return self._tell.shopify("customers/merge", shopify.merge(kept, gone), at, gone)

    def _other(self, at: int) -> Request:
        self._others += 1
        return self._tell.other(self._others, at)

    def _first_of(self, requests: Iterable[Request]) -> Request:
        first, *more = requests
        self.queue.extend(more)
        return first

    def _some(self, known: list[Account]) -> Account | None:
        return known[int(self.rng.random() * len(known))] if known else None

    def _remember(self, known: list[Kept], one: Kept, limit: int) -> None:
        if len(known) < limit:
            known.append(one)
        else:
            known[int(self.rng.random() * limit)] = one
