import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from lakehouse_assets import settings
from lakehouse_assets.services.host import ServiceError, alive, ended, free
from lakehouse_assets.services.service import Service, start_all
from lakehouse_assets_tests.services.listener import Listener

pytestmark = pytest.mark.usefixtures("lake")
SCRIPT = [sys.executable, "-m", "lakehouse_assets_tests.services.listener"]


class Mute(Listener):
    start_timeout_s = 1

    def probe(self) -> bool:
        return False


@pytest.fixture
def service(lake: Path) -> Iterator[Listener]:
    service = Listener()
    yield service
    service.stop()


def pid_of(service: Service) -> int:
    pid = service.status().pid
    assert pid is not None
    return pid


def test_a_second_start_changes_nothing(service: Listener) -> None:
    assert service.status().state == "stopped"
    assert service.start() is True
    pid = pid_of(service)
    assert service.start() is False
    status = service.status()
    assert (status.state, status.pid) == ("running", pid)
    assert service.stop() is True
    assert service.status().state == "stopped"
    assert service.stop() is False


def test_a_killed_service_is_noticed_and_comes_back(service: Listener) -> None:
    service.start()
    killed = psutil.Process(pid_of(service))
    killed.kill()
    assert ended(killed, 5)
    assert service.status().state == "stopped"
    assert service.start() is True
    assert pid_of(service) != killed.pid


def test_a_service_that_lives_but_does_not_answer_is_unhealthy_and_start_replaces_it(
    service: Listener,
) -> None:
    service.start()
    server = psutil.Process(pid_of(service))
    mute = Mute()
    assert mute.status().state == "unhealthy"
    with pytest.raises(ServiceError, match="not well after 1 s"):
        mute.start()
    assert not alive(server)


def test_a_service_that_is_not_well_in_time_is_not_left_behind(lake: Path) -> None:
    mute = Mute("deaf")
    with pytest.raises(ServiceError, match="not well after 1 s and is stopped again"):
        mute.start()
    assert free(settings.port("kafka"))
    assert not mute.run_file.exists()
    assert mute.stop() is False


def test_two_starters_at_once_start_one(
    service: Listener, subprocess_env: Callable[[], dict[str, str]]
) -> None:
    starters = [
        subprocess.Popen(SCRIPT, env=subprocess_env(), stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = sorted(starter.communicate(timeout=20)[0].strip() for starter in starters)
    assert answers == ["False", "False", "True"]
    assert service.status().state == "running"


def test_the_service_outlives_its_starter_killed_with_kill_9(
    service: Listener, subprocess_env: Callable[[], dict[str, str]]
) -> None:
    starter = subprocess.Popen(
        [*SCRIPT, "linger"], env=subprocess_env(), stdout=subprocess.PIPE, text=True
    )
    assert starter.stdout is not None
    assert starter.stdout.readline().strip() == "True"
    starter.kill()
    starter.communicate(timeout=5)
    assert service.status().state == "running"
    assert service.start() is False


def test_a_service_whose_starter_died_before_writing_it_down_is_found(service: Listener) -> None:
    service.start()
    pid = pid_of(service)
    service.run_file.unlink()
    assert service.start() is False
    assert pid_of(service) == pid


def test_a_pid_given_to_another_process_is_not_touched(service: Listener) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"]) as stranger:
        service.run_file.parent.mkdir(parents=True)
        service.run_file.write_text(json.dumps({"pid": stranger.pid, "created": 1.0}))
        assert service.status().state == "stopped"
        assert service.stop() is False
        assert stranger.poll() is None
        stranger.kill()


def test_one_started_here_is_stopped_after_anothers_was_named_too(
    service: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.start()
    process = psutil.Process(pid_of(service))
    monkeypatch.setattr(Listener, "external", lambda self: "broker-1:9092")
    assert service.stop() is True
    assert not alive(process)
    assert service.stop() is False


def test_a_taken_port_is_an_error_that_names_port_owner_and_way_out(service: Listener) -> None:
    port = settings.port("kafka")
    code = f"import socket, time; s = socket.create_server(('127.0.0.1', {port})); time.sleep(30)"
    with subprocess.Popen([sys.executable, "-c", code]) as owner:
        while not service.probe():
            assert owner.poll() is None
        with pytest.raises(ServiceError) as error:
            service.start()
        owner.kill()
    for part in (str(port), f"pid {owner.pid}", "create_server", "LAKEHOUSE_PORT_OFFSET"):
        assert part in str(error.value)


def test_a_service_that_dies_while_starting_shows_the_end_of_its_log(lake: Path) -> None:
    with pytest.raises(ServiceError) as error:
        Listener("broken").start()
    message = str(error.value)
    assert str(lake / "logs" / "listener.log") in message
    assert "no such disk" in message
    assert "line 17\n" in message
    assert "line 16\n" not in message
    assert Listener().status().state == "stopped"


def test_stop_is_bounded_when_sigterm_is_ignored() -> None:
    deaf = Listener("deaf")
    deaf.start()
    process = psutil.Process(pid_of(deaf))
    assert deaf.stop() is True
    assert not alive(process)


def test_a_service_heeds_its_signal_though_its_starter_was_told_to_ignore_it(lake: Path) -> None:
    ignoring = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    starts = "from lakehouse_assets_tests.services.listener import Listener; Listener().start()"
    subprocess.run([sys.executable, "-c", ignoring + starts], check=True, cwd=settings.ROOT)
    process = psutil.Process(pid_of(Listener()))
    process.terminate()
    assert ended(process, 5)


def test_a_long_log_is_set_aside_at_start(service: Listener, lake: Path) -> None:
    log = lake / "logs" / "listener.log"
    log.parent.mkdir(parents=True)
    with log.open("wb") as file:
        file.truncate(20_000_000)
    service.start()
    assert log.stat().st_size < 1_000
    assert log.with_suffix(".log.1").stat().st_size == 20_000_000


def test_starting_several_says_all_that_failed(service: Listener) -> None:
    broken = Listener("broken")
    broken.name = "other"
    with pytest.raises(ServiceError, match="other died while starting"):
        start_all([service, broken])
