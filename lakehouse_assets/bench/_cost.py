"""What a pass of work takes, and the middle one of several."""

from collections.abc import Callable, Sequence
from statistics import median

from lakehouse_assets.bench._lab import Cost, Meter, doing


def cost(pids: Sequence[int], what: str, work: Callable[[], object]) -> Cost:
    with doing(what), Meter(*pids) as meter:
        work()
    return Cost(meter.wall_s, meter.cpu_s)


def middle(costs: Sequence[Cost]) -> Cost:
    return Cost(median(c.wall_s for c in costs), median(c.cpu_s for c in costs))
