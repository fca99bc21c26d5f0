from collections.abc import Callable
from pathlib import Path

from lakehouse_assets import settings
from lakehouse_assets.commands import common, stack
from lakehouse_assets.services.pages import Pages
from lakehouse_assets_tests.support import last_line, said


def test_they_come_up_alone_and_stay_on_loopback(
    lake: Path, listens_on: Callable[[int], set[str]]
) -> None:
    pages = Pages()
    pages.start()
    try:
        status = pages.status()
        assert status.state == "running" and status.ports == {"pages": settings.port("pages")}
        assert status.pid is not None and listens_on(status.pid) == {"127.0.0.1"}
        assert last_line(said("status", "--json"))["services"]["pages"]["pid"] == status.pid
    finally:
        assert "pages stopped" in said("down", "pages")


def test_they_come_up_with_every_source(lake: Path) -> None:
    assert "pages" in {s.name for group in common.services() for s in group}
    for source in ("payments", "webhooks", "storefront"):
        wanted, _ = stack._wanted([source], no_generate=True)
        assert "pages" in {service.name for group in wanted for service in group}
