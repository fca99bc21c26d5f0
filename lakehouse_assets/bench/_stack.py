"""What a whole stack takes: its services and all that they start, which come and go."""

import threading
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import psutil

SAMPLE_S = 0.5  # of a process's last moment so much may go unseen

Known = tuple[str, int, float]  # a service, and which process of its family


class StackMeter:
    """CPU by service, and the peak of the memory of all, during a `with` block.

    Pages that processes share count for each of them.
    """

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._roots, self._done = dict(pids), threading.Event()
        self._began, self._last = dict[Known, float](), dict[Known, float]()
        self.peak_mb = 0.0

    def __enter__(self) -> "StackMeter":
        self._look()
        self._began = dict(self._last)
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._sampler.join()
        self._look()

    @property
    def cpu_s(self) -> dict[str, float]:
        """By service, the most first."""
        spent = defaultdict[str, float](float)
        for known, seconds in self._last.items():
            spent[known[0]] += seconds - self._began.get(known, 0)
        return dict(sorted(spent.items(), key=lambda one: -one[1]))

    def told(self) -> dict[str, Any]:
        return {
            "cpu_s": round(sum(self.cpu_s.values()), 1),
            "cpu_by_service": {name: round(each, 1) for name, each in self.cpu_s.items()},
            "peak_mb": round(self.peak_mb),
        }

    def _sample(self) -> None:
        while not self._done.wait(SAMPLE_S):
            self._look()

    def _look(self) -> None:
        children, resident = defaultdict[int, list[psutil.Process]](list), 0
        every = {process.pid: process for process in psutil.process_iter()}
        for process in every.values():
            with suppress(psutil.Error):
                children[process.ppid()].append(process)
        for name, root in self._roots.items():
            family = [every[root]] if root in every else []
            for process in family:
                family += children[process.pid]
                with suppress(psutil.Error):
                    spent = process.cpu_times()
                    known = (name, process.pid, process.create_time())
                    self._last[known] = spent.user + spent.system
                    resident += process.memory_info().rss
        self.peak_mb = max(self.peak_mb, resident / 2**20)
