import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lakehouse_assets.services.host import ServiceError
from lakehouse_assets.services.registry import NATIVE, Registry, registered, registry_url
from lakehouse_assets.services.rest import Refused, ask


@pytest.fixture(scope="module")
def registry(module_lake: Path) -> Iterator[Registry]:
    registry = Registry()
    registry.start()
    yield registry
    registry.stop()


def register(subject: str, *fields: str) -> int:
    """The id of the schema with these fields."""
    told = [{"name": name, "type": "long"} for name in fields]
    schema = json.dumps({"type": "record", "name": subject, "fields": told})
    place = f"{registry_url()}/subjects/{subject}/versions"
    return int(ask(place, "POST", {"schema": schema})["id"])


def fields(number: int) -> list[str]:
    schema = json.loads(ask(f"{registry_url()}/schemas/ids/{number}")["schema"])
    return [field["name"] for field in schema["fields"]]


def test_ids_handed_out_just_before_kill_9_keep_their_schema(registry: Registry) -> None:
    known: dict[int, str] = {}
    for round_ in range(3):
        for n in range(4):
            known[register(f"s{round_}_{n}", f"f{round_}_{n}")] = f"f{round_}_{n}"
        pid = registry.status().pid
        assert pid is not None
        psutil.Process(pid).kill()
        assert registry.start() is True
    assert len(known) == 12
    assert {number: fields(number) for number in known} == {n: [f] for n, f in known.items()}


def test_a_schema_that_cannot_read_what_was_written_is_refused(registry: Registry) -> None:
    register("orders", "id", "n")
    register("orders", "id")
    with pytest.raises(Refused) as refused:
        register("orders", "id", "without_default")
    assert refused.value.status == 409
    assert registry.start() is False
    assert ask(f"{registry_url()}/config")["compatibilityLevel"] == "BACKWARD"


def test_only_its_own_word_for_an_unknown_subject_means_that_there_is_no_schema(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = [register("told", "id", "n"), register("told", "id")]
    assert [one["id"] for one in registered("told")] == numbers[::-1]
    assert registered("nobody-value") == []
    for wrong in (registry_url(NATIVE), registry_url("apis"), registry_url("nowhere")):
        monkeypatch.setenv("LAKEHOUSE_REGISTRY", wrong)
        with pytest.raises(ServiceError, match=r"404.*LAKEHOUSE_REGISTRY"):
            registered("told")


def test_somebody_elses_registry_is_used_and_left_as_it_is(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address = registry_url("")
    ask(f"{registry_url()}/config", "PUT", {"compatibility": "FULL"})
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path))
    monkeypatch.setenv("LAKEHOUSE_REGISTRY", address)
    assert registry.start() is False
    assert registry.status().state == "foreign"
    assert registry.stop() is False
    assert ask(f"{registry_url()}/config")["compatibilityLevel"] == "FULL"
    monkeypatch.setenv("LAKEHOUSE_REGISTRY", "http://127.0.0.1:1")
    with pytest.raises(ServiceError, match=r"127\.0\.0\.1:1 does not answer"):
        registry.start()


def test_a_folder_with_a_semicolon_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path / "lakes; mine"))
    monkeypatch.setenv("LAKEHOUSE_PORT_OFFSET", "11500")
    with pytest.raises(ServiceError, match=r"semicolon.*LAKEHOUSE_HOME"):
        Registry().start()
