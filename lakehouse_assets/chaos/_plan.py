"""What goes wrong, when and where: a function of the seed and the tables alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from random import Random

POINTS = ("read", "branch", "data files", "judge", "publish", "published")  # lake/waypoint.py
RUN, CLIENT = "run", "client"
SPARK, KAFKA, CONNECT, POSTGRES, REGISTRY = "spark", "kafka", "connect", "postgres", "registry"
SPOKEN = {
    SPARK: "Spark", KAFKA: "the broker", CONNECT: "Kafka Connect", POSTGRES: "Postgres",
    REGISTRY: "the schema registry",
}  # fmt: skip
SERVER = "server"  # any of those that the source needs, in turns
HAND = (RUN, RUN, RUN, CLIENT, SERVER)  # of five kills
BURST = (150, 400)  # records before each run
WRITING_S = (0.0, 0.8)  # after its branch was made a run is writing
READING = ("read", "branch")  # of a raw table: what follows is the one query that asks Kafka
TABLES_OF_TOPICS = "raw."


@dataclass(frozen=True)
class Step:
    """One kill, and what else goes on meanwhile.

    `run`: the run kills itself at `mark`. `client`: it is killed `delay_s` after `mark`, so that
    its query goes on in Spark. Else the server of that name is killed `delay_s` after `mark`.
    """

    number: int
    fault: str
    mark: str  # `point@table`
    delay_s: float
    burst: int
    is_doubled: bool  # the same partition is launched twice at once; `run`: either may be killed
    is_compacted: bool  # all tables are compacted meanwhile

    @property
    def point(self) -> str:
        return self.mark.split("@")[0]

    @property
    def is_over(self) -> str:
        """The mark after which the step's table neither reads nor writes in Spark."""
        return f"data files@{self.mark.split('@')[1]}"

    @property
    def who(self) -> str:
        return SPOKEN.get(self.fault, self.fault)

    def told(self) -> str:
        what = {
            RUN: f"the run kills itself at {self.mark}",
            CLIENT: f"the run is killed {self.delay_s:.1f} s after {self.mark}, its query goes on",
        }.get(self.fault, f"{self.who} is killed {self.delay_s:.1f} s after {self.mark}")
        beside = ", beside a second run" * self.is_doubled
        return what + beside + ", while tables are compacted" * self.is_compacted

    def again(self) -> "Step":
        """After a miss: sooner, and without a second run that could take the news away first."""
        return replace(self, delay_s=round(self.delay_s / 3, 2), is_doubled=False)


def plan(
    kills: int,
    seed: int,
    tables: Sequence[str],
    servers: Sequence[str] = (SPARK, KAFKA),
    hand: Sequence[str] = HAND,
) -> list[Step]:
    """As many of each kind as the hand says, then again; of the servers one after the other."""
    rng = Random(seed)
    at_points, anywhere = _marks(rng, tables, POINTS), _marks(rng, tables, POINTS)
    writing = _marks(rng, tables, ("branch",))
    raw = [table for table in tables if table.startswith(TABLES_OF_TOPICS)]
    drawn = {
        RUN: at_points, CLIENT: writing, KAFKA: _marks(rng, raw, READING),
        REGISTRY: _marks(rng, raw, POINTS),  # the next raw table asks it
    }  # fmt: skip
    turns = cycle(rng.sample(servers, len(servers)))
    deck: list[str] = []
    steps = []
    for number in range(kills):
        if not deck:
            deck = list(hand)
            rng.shuffle(deck)
        fault = deck.pop()
        fault = next(turns) if fault == SERVER else fault
        steps.append(Step(
            number + 1, fault, next(drawn.get(fault, anywhere)), round(rng.uniform(*WRITING_S), 2),
            rng.randint(*BURST), is_doubled=number % 3 == 1, is_compacted=number % 3 == 2,
        ))  # fmt: skip
    return steps


def _marks(rng: Random, tables: Sequence[str], points: Sequence[str]) -> Iterator[str]:
    """Without end: every point comes before one comes again, and so does every mark."""
    where, what = rng.sample(tables, len(tables)), rng.sample(points, len(points))
    while True:
        for shift in range(len(where)):
            for place, point in enumerate(what):
                yield f"{point}@{where[(place + shift) % len(where)]}"
