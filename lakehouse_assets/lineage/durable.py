"""Small files that are there for good once they are written: whole, and on the disk itself."""

import os
from pathlib import Path

from lakehouse_assets.landing.place import Place


class Durable(Place):
    """A folder on a disk or in a bucket, which keeps whatever it has acknowledged."""

    def write(self, path: str, content: bytes) -> None:
        if self._files.type_name != "local":
            with self._files.open_output_stream(self._full(path)) as file:
                file.write(content)
            return
        full = Path(self._full(path))
        full.parent.mkdir(parents=True, exist_ok=True)
        beside = full.with_name(f".{full.name}.unfinished")
        with beside.open("wb") as local:
            local.write(content)
            local.flush()
            os.fsync(local.fileno())
        beside.replace(full)
        for folder in (full.parent, full.parent.parent):  # the names, too
            _settle(folder)

    def read(self, path: str) -> bytes:
        with self.open(path) as file:
            return bytes(file.read())

    def files(self, folder: str) -> list[str]:
        """All files in a folder and in what it holds, with their paths from there on."""
        from pyarrow.fs import FileSelector, FileType  # type: ignore[import-untyped]

        begin = self._full(folder)
        every = FileSelector(begin, allow_not_found=True, recursive=True)
        found = [one for one in self._files.get_file_info(every) if one.type == FileType.File]
        return sorted(one.path[len(begin) :].lstrip("/") for one in found)


def _settle(folder: Path) -> None:
    at = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(at)
    finally:
        os.close(at)
