"""Ids as each vendor writes them; those of one run are not those of another."""

from lakehouse_assets.sources.event import scatter, token


class Numbers:
    def __init__(self, *run: object) -> None:
        self._token, self._serial = token(*run), 0
        self._base = int(self._token, 16) * 1_000_000  # below 2**53, as JSON's readers want it

    def whole(self, room: int = 1) -> int:
        """Shopify's and HubSpot's; the next `room` numbers are free, too."""
        first = self._base + self._serial + 1
        self._serial += room
        return first

    def word(self) -> str:
        """Stripe's, behind `cus_`, `ch_`, `evt_`."""
        self._serial += 1
        return self._token + scatter(self._serial)

    def uuid(self) -> str:
        self._serial += 1
        name = scatter(self._serial)
        return f"{self._token}-{name[:4]}-4{name[4:7]}-a{name[7:10]}-{name[10:]}{self._token[:6]}"
