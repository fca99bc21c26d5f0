"""What somebody's record in a system, a company or an order is told by, in the vendor's words."""

from random import Random

from lakehouse_assets.sources.webhooks import hubspot, shopify, stripe
from lakehouse_assets.sources.webhooks.account import Account
from lakehouse_assets.sources.webhooks.numbers import Numbers
from lakehouse_assets.sources.webhooks.people import Company
from lakehouse_assets.sources.webhooks.request import Json, Request


class Teller:
    """Gives every webhook its id."""

    def __init__(self, rng: Random, numbers: Numbers) -> None:
        self._rng, self._numbers = rng, numbers

    def shopify(self, topic: str, content: Json, at: int, about: Account | str) -> Request:
        known = about.known if isinstance(about, Account) else None
        name = about.id if isinstance(about, Account) else about
        return shopify.request(topic, self._numbers.uuid(), content, at, name, known)

    def stripe(self, kind: str, thing: Json, at: int, previous: Json | None = None) -> Request:
        event_id = f"evt_{self._numbers.word()}"
        return stripe.request(kind, event_id, thing, at, thing["id"], previous=previous)

    def opened(self, account: Account) -> Request:
        at = account.created_ms
        if account.source == "shopify":
            return self.shopify("customers/create", shopify.customer(account), at, account)
        if account.source == "stripe":
            made = self.stripe("customer.created", stripe.customer(account), at)
            return made._replace(known=account.known)
        number = int(account.id)
        events = [hubspot.creation("contact.creation", self._numbers.whole(), number, at)]
        for name, value in hubspot.properties(account):
            events.append(self._property("contact", number, at, name, value))
        if account.company:
            events.append(self._association(account, at))
        return hubspot.request(events, account.id, account.known)

    def changed(self, account: Account, before: str | None) -> Request:
        """What `account.changed` names has become another."""
        at, name = account.updated_ms, account.changed
        if account.source == "shopify":
            return self.shopify("customers/update", shopify.customer(account), at, account)
        if account.source == "stripe":
            column = name if name in ("email", "phone") else "name"
            thing, previous = stripe.customer(account), {column: before}
            made = self.stripe("customer.updated", thing, at, previous)
            return made._replace(known=account.known)
        value = getattr(account, name) or ""
        event = self._property("contact", int(account.id), at, hubspot.PROPERTIES[name], value)
        return hubspot.request([event], account.id, account.known)

    def deleted(self, account: Account, at: int) -> Request:
        if account.source == "shopify":
            return self.shopify("customers/delete", shopify.deletion(account), at, account)
        if account.source == "stripe":
            made = self.stripe("customer.deleted", stripe.customer(account), at)
            return made._replace(known=account.known)
        number, event_id = int(account.id), self._numbers.whole()
        gone = hubspot.deletion("contact.deletion", event_id, number, at)
        return hubspot.request([gone], account.id, account.known)

    def company(self, company: Company, number: int, at: int) -> Request:
        events = [hubspot.creation("company.creation", self._numbers.whole(), number, at)]
        for name, value in hubspot.company_properties(company):
            events.append(self._property("company", number, at, name, value))
        return hubspot.request(events, str(number))

    def grown(self, number: int, at: int) -> Request:
        size = str(5 + int(self._rng.random() * 500))
        event = self._property("company", number, at, "numberofemployees", size)
        return hubspot.request([event], str(number))

    def closed(self, number: int, at: int) -> Request:
        gone = hubspot.deletion("company.deletion", self._numbers.whole(), number, at)
        return hubspot.request([gone], str(number))

    def moved(self, account: Account, company: int, at: int) -> Request:
        """To another company; the one before, if there was one, is left."""
        events = []
        if account.company:
            events.append(self._association(account, at - 1, is_over=True))
        account.company = str(company)
        events.append(self._association(account, at))
        return hubspot.request(events, account.id, account.known)

    def other(self, turn: int, at: int) -> Request:
        """Something of which no table but that of all the others is made."""
        number = self._numbers.whole(2)
        if turn % 3 == 0:
            product = {"id": 7_000_000 + turn % 30, "title": shopify.GOODS[turn % 30][0],
                       "updated_at": shopify.instant(at), "status": "active"}  # fmt: skip
            return self.shopify("products/update", product, at, str(product["id"]))
        if turn % 3 == 1:
            payout = {"id": f"po_{self._numbers.word()}", "object": "payout", "amount": 50_000,
                      "currency": "usd", "arrival_date": at // 1000, "status": "paid"}  # fmt: skip
            return self.stripe("payout.paid", payout, at)
        deal = hubspot.creation("deal.creation", number + 1, number, at)
        return hubspot.request([deal], str(number))

    def _property(self, thing: str, number: int, at: int, name: str, value: str) -> Json:
        kind = f"{thing}.propertyChange"
        return hubspot.changed(kind, self._numbers.whole(), number, at, name, value)

    def _association(self, account: Account, at: int, is_over: bool = False) -> Json:
        contact, company = int(account.id), int(account.company)
        return hubspot.associated(self._numbers.whole(), contact, company, at, is_over)
