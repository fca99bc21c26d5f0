"""What a table's newest commit says: the batch, the progress, the counts. Plain data."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Stamp:
    """What a published batch says of itself, in its snapshot's summary."""

    commit: int
    epoch: int
    progress: dict[
        str, Any
    ]  # raw: topic id, generation, next offsets; else parent -> [commit, epoch]
    code: str = ""
    run: str = ""
    hour: str = ""
    at: str = ""  # the column of `ranges`
    ranges: list[list[str]] | None = None  # where in `at` rows changed; None: anywhere
    corrects: bool = False  # rows may have gone or fallen back: no longer the greatest of versions

    def progress_of(self) -> dict[str, Any]:
        """Progress by source: each parent's commit and epoch, or the topic's offsets."""
        if "topic" not in self.progress:
            return self.progress
        return {f"kafka.{self.progress['topic']}": self.progress["next"]}


@dataclass(frozen=True)
class Hold:
    """A batch that broke an invariant, kept on a branch and not tried again by itself."""

    branch: str
    since: str  # ISO, UTC
    why: str
    stamp: Stamp  # what it would have been

    def told(self, name: str) -> str:
        return (
            f"{name} is held since {self.since[:19].replace('T', ' ')} UTC: batch "
            f"{self.stamp.commit} broke an invariant: {self.why} (its rows are on branch "
            f"{self.branch}). Fix the code, or the input and then `lakehouse release {name}`: "
            "the next run tries again"
        )


@dataclass(frozen=True)
class Head:
    """A table as its readers see it now."""

    name: str
    snapshot_id: int
    stamp: Stamp
    rows: int
    published_ms: int
    tallies: list[dict[str, Any]] = field(default_factory=list)  # newest first
    held: Hold | None = None
    files: int = 0  # data and delete files that a reader opens
    snapshots: int = 0
    care: dict[str, Any] = field(default_factory=dict)  # what maintenance did last
    older_schema: bool = False  # columns were added or widened since this snapshot

    def news_rows(self, consumed: int) -> float:
        """Rows written by the commits after one; infinite when their tallies are gone."""
        newer = self._told(consumed)
        return float("inf") if newer is None else sum(t["batch"] for t in newer)

    def may_have_lost(self, consumed: int) -> bool:
        """Whether the commits after one took rows away; yes when their tallies are gone."""
        newer = self._told(consumed)
        return newer is None or any(t.get("gone", 1) for t in newer)

    def _told(self, consumed: int) -> list[dict[str, Any]] | None:
        newer = [t for t in self.tallies if t["commit"] > consumed]
        return newer if len(newer) == self.stamp.commit - consumed else None
