"""Where files are left: a folder, on a disk or in a bucket. A file is there whole or not at all.

It is written beside, under a name that tells whose it is, and then takes its place: a rename, or in
a bucket a copy of at most 5 GB, which readers see at once. What a killed process leaves beside is
never taken for data, and goes with the next write.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import TYPE_CHECKING

from lakehouse_assets import settings
from lakehouse_assets.lake import waypoint
from lakehouse_assets.lake.branch import new_branch, owner_lives

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyarrow import NativeFile  # type: ignore[import-untyped]
    from pyarrow.fs import FileInfo, FileSystem  # type: ignore[import-untyped]

UNFINISHED = "unfinished"
DEAD = timedelta(days=1)  # no file takes that long to write, whoever writes it


class Place:
    """Paths are told from the root on."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")

    @cached_property
    def _at(self) -> "tuple[FileSystem, str]":
        """By pyiceberg, which finds a bucket's address and credentials in its own settings for our
        catalog, or in AWS's.
        """
        from pyiceberg.io.pyarrow import PyArrowFileIO
        from pyiceberg.utils.config import Config

        files = PyArrowFileIO(dict(Config().get_catalog_config(settings.CATALOG) or {}))
        scheme, host, root = files.parse_location(self.address)
        return files.fs_by_scheme(scheme, host), root.rstrip("/")

    @property
    def _files(self) -> "FileSystem":
        return self._at[0]

    def _full(self, path: str) -> str:
        return f"{self._at[1]}/{path}"

    def put(
        self, path: str, pieces: Iterable[bytes], what: str, is_wanted: "Callable[[], bool]"
    ) -> bool:
        """Write a file and let it take its place, if it is still wanted by then."""
        beside = f"{UNFINISHED}/{new_branch()}"
        try:
            self._folder_of(beside)
            with self._files.open_output_stream(self._full(beside)) as file:
                for piece in pieces:
                    file.write(piece)
            waypoint.passed("data files", what)
            if not is_wanted():
                self.remove(beside)
                return False
            self._folder_of(path)
            waypoint.passed("publish", what)
            self._files.move(self._full(beside), self._full(path))
        except Exception:
            self.remove(beside)
            raise
        waypoint.passed("published", what)
        return True

    def open(self, path: str) -> "NativeFile":
        return self._files.open_input_file(self._full(path))

    def info(self, path: str) -> "FileInfo":
        return self._files.get_file_info(self._full(path))

    def names(self, folder: str) -> list[str]:
        """What is in a folder."""
        return sorted(found.base_name for found in self._list(folder))

    def remove(self, path: str) -> None:
        """A file or a folder; nothing if it is gone."""
        from pyarrow.fs import FileType

        kind = self.info(path).type
        if kind == FileType.File:
            self._files.delete_file(self._full(path))
        elif kind == FileType.Directory:
            self._files.delete_dir(self._full(path))

    def is_at_rest(self) -> bool:
        """Nobody is about to let a file take its place."""
        return not self._list(UNFINISHED)

    def clear(self) -> None:
        """Remove what nobody will finish any more."""
        long_ago = datetime.now(timezone.utc) - DEAD
        for found in self._list(UNFINISHED):
            is_old = found.mtime is not None and found.mtime < long_ago
            if is_old or not owner_lives(found.base_name):
                self.remove(f"{UNFINISHED}/{found.base_name}")

    def _list(self, folder: str) -> "list[FileInfo]":
        from pyarrow.fs import FileSelector

        found = self._files.get_file_info(FileSelector(self._full(folder), allow_not_found=True))
        return [one for one in found if one.base_name]

    def _folder_of(self, path: str) -> None:
        """A bucket has none."""
        if self._files.type_name == "local":
            self._files.create_dir(self._full(path).rpartition("/")[0], recursive=True)
