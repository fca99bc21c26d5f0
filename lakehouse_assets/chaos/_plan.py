"""What goes wrong, when and where: a function of the seed and the tables alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

POINTS = ("read", "branch", "data files", "judge", "publish", "published")  # lake/waypoint.py
RUN, CLIENT, SPARK, KAFKA = "run", "client", "spark", "kafka"
BURST = (150, 400)  # records before each run
WRITING_S = (0.1, 1.2)  # after its branch was made a run is writing, or just has been


@dataclass(frozen=True)
class Step:
    """One kill, and what else goes on meanwhile.

    `run`: the run kills itself at `mark`. `client`: it is killed `delay_s` after `mark`, so that
    its query goes on in Spark. `spark`, `kafka`: that server is killed `delay_s` after `mark`.
    """

    number: int
    fault: str
    mark: str  # `point@table`
    delay_s: float
    burst: int
    is_doubled: bool  # the same partition is launched twice at once; `run`: either may be killed
    is_compacted: bool  # all tables are compacted meanwhile

    def told(self) -> str:
        what = {
            RUN: f"the run kills itself at {self.mark}",
            CLIENT: f"the run is killed {self.delay_s:.1f} s after {self.mark}, its query goes on",
            SPARK: f"Spark is killed {self.delay_s:.1f} s after {self.mark}",
            KAFKA: f"the broker is killed {self.delay_s:.1f} s after {self.mark}",
        }[self.fault]
        beside = ", beside a second run" * self.is_doubled
        return what + beside + ", while tables are compacted" * self.is_compacted


def plan(kills: int, seed: int, tables: Sequence[str]) -> list[Step]:
    """Of five kills three are at named points, one is of a client, one of a server in turns."""
    rng = Random(seed)
    marks = [f"{point}@{table}" for table in tables for point in POINTS]
    deck: list[str] = []
    drawn: list[str] = []
    servers = rng.sample((SPARK, KAFKA), 2)
    steps = []
    for number in range(kills):
        if not deck:
            deck = [RUN, RUN, RUN, CLIENT, servers[number // 5 % 2]]
            rng.shuffle(deck)
        if not drawn:  # every point of every table comes before one comes again
            drawn = rng.sample(marks, len(marks))
        fault, mark = deck.pop(), drawn.pop()
        if fault == CLIENT:
            mark = f"branch@{mark.split('@')[1]}"
        steps.append(Step(
            number + 1, fault, mark, round(rng.uniform(*WRITING_S), 2), rng.randint(*BURST),
            is_doubled=number % 3 == 1, is_compacted=number % 3 == 2,
        ))  # fmt: skip
    return steps
