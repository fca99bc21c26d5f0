from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from lakehouse_assets import settings
from lakehouse_assets.commands import common, stack
from lakehouse_assets.services.host import ended
from lakehouse_assets.services.webhooks import Webhooks, made_secrets, signing
from lakehouse_assets.sources.webhooks.vendors import VENDORS
from lakehouse_assets_tests.support import last_line, said


def test_it_comes_up_without_kafka_and_stays_on_loopback(
    lake: Path, listens_on: Callable[[int], set[str]]
) -> None:
    door = Webhooks()
    door.start()
    try:
        status = door.status()
        assert status.state == "running" and status.ports == {"webhooks": settings.port("webhooks")}
        assert status.pid is not None and listens_on(status.pid) == {"127.0.0.1"}
        found = last_line(said("status", "--json"))["services"]["webhooks"]
        assert (found["state"], found["pid"]) == ("running", status.pid)
        killed = psutil.Process(status.pid)
        killed.kill()
        assert ended(killed, 5) and door.start() is True
    finally:
        assert "webhooks stopped" in said("down", "webhooks")
    assert "webhooks" not in last_line(said("status", "--json"))["services"], "it is not missed"


def test_another_sources_life_does_not_open_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    def names(*asked: str) -> set[str]:
        wanted, _ = stack._wanted(asked, no_generate=True)
        return {service.name for group in wanted for service in group}

    assert "webhooks" in {s.name for group in common.services() for s in group}
    assert "webhooks" not in names("payments")
    assert "webhooks" in names()
    assert names("payments", "webhooks") == {*names("payments"), "webhooks"}
    assert names("webhooks") == {*names("payments"), "webhooks"}


def test_secrets_are_made_for_all_vendors_or_once_one_is_set_for_none(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {v.secret: v.name for v in VENDORS}
    for name in names:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_PREVIOUS", raising=False)
    monkeypatch.setenv("STRIPE_WEBHOOK_SECRET", " ")
    kept = made_secrets()
    assert kept.keys() == names.keys() and all(len(one.strip()) > 20 for one in kept.values())
    assert made_secrets() == kept, "they are kept"
    assert {name: kept[name].encode() for name in names} == {n: signing()[names[n]] for n in names}
    env = Webhooks().env()
    assert {name: env[name] for name in names} == kept
    monkeypatch.setenv("STRIPE_WEBHOOK_SECRET", "whsec_theirs")
    assert made_secrets() == {} and signing() == {"stripe": b"whsec_theirs"}
    assert [name for name in names if name in Webhooks().env()] == ["STRIPE_WEBHOOK_SECRET"]


def test_a_new_secret_may_stand_beside_the_previous_one(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "SHOPIFY_WEBHOOK_SECRET"
    for new, old, valid in ((" new ", "old", [b"new", b"old"]), ("", "old", [b"old"]),
                            ("new", "", [b"new"]), ("", " ", [])):  # fmt: skip
        monkeypatch.setenv(name, new)
        monkeypatch.setenv(f"{name}_PREVIOUS", old)
        assert settings.webhook_secrets(name) == valid
