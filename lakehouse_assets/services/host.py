"""What the services ask of the machine: locks, ports, files that are never half written."""

import fcntl
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import psutil

HOST = "127.0.0.1"


class ServiceError(RuntimeError):
    """Something outside the code is in the way; the message says what, where and what to do."""


@contextmanager
def locked(path: Path, patience_s: float) -> Iterator[None]:
    """One process (and one thread) at a time; a killed holder's lock falls free by itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + patience_s
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise ServiceError(
                        f"{path} has been held by another process for {patience_s:.0f} s."
                        " Wait for the other start or set-up, or end it."
                    ) from None
                time.sleep(0.05)
        yield


def write_atomically(path: Path, text: str, mode: int = 0o644) -> None:
    """A reader sees the old text or the new one; `mode` holds from the first byte on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    with open(part, "w", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(text)
    part.replace(path)


def alive(process: psutil.Process) -> bool:
    """A zombie is dead: only its parent has not looked yet."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def ended(process: psutil.Process, patience_s: float) -> bool:
    """psutil's own wait would take the zombie of a parent that never looks for a living process."""
    deadline = time.monotonic() + patience_s
    while alive(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(process)


def heeding(number: signal.Signals, command: Sequence[str]) -> list[str]:
    """The command; where we ignore the signal, which a program inherits, so that it does not."""
    if signal.getsignal(number) is not signal.SIG_IGN:
        return [*command]
    heed = f"signal.signal({number:d}, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])"
    return [sys.executable, "-c", f"import os, signal, sys; {heed}", *command]


def carrying(name: str, value: str) -> list[psutil.Process]:
    """The processes with that variable in their environment; it is inherited."""
    found = []
    for process in psutil.process_iter():
        with suppress(OSError, psutil.Error):
            if process.environ().get(name) == value:
                found.append(process)
    return found


def working_in(folder: Path) -> list[psutil.Process]:
    """The living processes whose current folder it is, as far as the system lets us see."""
    found = []
    for process in psutil.process_iter():
        with suppress(OSError, psutil.Error):
            if process.cwd() == str(folder.resolve()) and alive(process):
                found.append(process)
    return found


def leads_session(process: psutil.Process) -> bool:
    with suppress(OSError):
        return os.getsid(process.pid) == process.pid
    return False


def footprint(process: psutil.Process | None) -> tuple[int, int]:
    """Resident bytes with its helpers', and seconds since it started; zeros for none."""
    try:
        if process is None:
            return 0, 0
        family = [process, *process.children(recursive=True)]
        seconds = round(time.time() - process.create_time())
        return sum(p.memory_info().rss for p in family), seconds
    except psutil.Error:
        return 0, 0


def free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def listening(port: int, host: str = HOST) -> bool:
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False


def answers(url: str, field: str) -> bool:
    """Whether a page answers at once, with an object that has the field; no proxy is asked."""
    try:
        with build_opener(ProxyHandler({})).open(url, timeout=1) as answer:
            return field in json.load(answer)
    except (URLError, OSError, ValueError):
        return False


def port_owner(port: int) -> str:
    """`pid 12 (command line)`, as far as the system lets us see another's process."""
    try:
        pids = {
            c.pid for c in psutil.net_connections("tcp") if c.laddr and c.laddr.port == port
        } - {None}
        pid = min(p for p in pids if p)
        return f"pid {pid} ({' '.join(psutil.Process(pid).cmdline())[:200]})"
    except (psutil.Error, ValueError):
        return "a process we may not see"
