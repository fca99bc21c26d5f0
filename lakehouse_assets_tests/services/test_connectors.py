"""What a connector is told here and now; that Connect then does it, test_connect.py shows."""

from typing import Any

import pytest

from lakehouse_assets.services import connectors, publication
from lakehouse_assets.services.host import ServiceError


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is named without a port, with a publication."""
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", "postgresql://me:word@db.example")
    monkeypatch.setattr(connectors, "published", lambda config: "public\\.orders")


@pytest.mark.usefixtures("others")
def test_an_address_without_a_port_means_the_usual_one() -> None:
    told = connectors.described("postgres-source-storefront")
    assert (told["database.hostname"], told["database.port"]) == ("db.example", "5432")
    assert publication.elsewhere(told) == ""


@pytest.mark.usefixtures("others")
def test_of_a_database_that_is_not_ours_it_is_told_what_is_to_be_dropped_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = connectors.described("postgres-source-storefront")
    monkeypatch.setenv("LAKEHOUSE_POSTGRES", "postgresql://me:word@localhost:5433")
    said = publication.elsewhere(told)
    assert "storefront at db.example:5432" in said and "pg_drop_replication_slot('storefro" in said
    assert "drop publication storefront" in said and "word" not in said
    told |= {"database.hostname": "127.0.0.1", "database.port": "5433"}
    assert publication.elsewhere(told) == "", "another name of the same place"
    assert publication.elsewhere({"connector.class": "a.file.Reader"}) == ""


@pytest.mark.parametrize("failures", [0, 1, 3])
def test_a_reset_is_made_again_if_a_late_task_spoilt_the_start(
    failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = iter(["FAILED"] * failures + ["RUNNING"])
    forgotten: list[str] = []

    def ask(url: str, method: str = "GET", body: object = None) -> dict[str, Any]:
        if not url.endswith("/status"):
            return {}
        task = {"state": next(states), "trace": "the slot already exists"}
        return {"connector": {"state": "RUNNING"}, "tasks": [task]}

    monkeypatch.setattr(connectors, "ask", ask)
    monkeypatch.setattr(connectors, "_forget", forgotten.append)
    if failures == connectors.RESETS:
        with pytest.raises(ServiceError, match="the slot already exists"):
            connectors.reset("shop")
    else:
        connectors.reset("shop")
    assert len(forgotten) == min(failures + 1, connectors.RESETS)
