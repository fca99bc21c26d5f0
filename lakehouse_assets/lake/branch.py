"""Branch names: a run's, which tell whose they are, and those of batches held back."""

import os
import socket
import uuid
import zlib

import psutil

RUN, FAILED = "run_", "failed_"


def _host() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def new_branch() -> str:
    """A branch name that tells whose it is: machine, process, and when that process began."""
    born = int(psutil.Process().create_time())
    return f"{RUN}{_host()}_{os.getpid()}_{born}_{uuid.uuid4().hex[:8]}"


def owner_lives(branch: str) -> bool:
    """False only when the branch's process is known to be gone; another machine's is left alone."""
    host, pid, born, _ = branch.removeprefix(RUN).split("_")
    if host != _host():
        return True
    try:
        return int(psutil.Process(int(pid)).create_time()) == int(born)
    except psutil.NoSuchProcess:
        return False
