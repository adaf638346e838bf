"""Memory and disk use of a run, as Linux reports them."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType

_MIB = 1 << 20


class PeakMemory:
    """A measurement of the peak resident set size of this process and its children, sampled twenty times a second.

    Use it in a with statement. ``peak`` is that of all processes, ``own`` that of this process alone, by the kernel's
    count; both in MiB.
    """

    def __init__(self) -> None:
        self.peak = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def own(self) -> float:
        return _field(Path("/proc/self/status"), "VmHWM")

    def _run(self) -> None:
        while not self._ended.wait(0.05):
            self.peak = max(self.peak, sum(_field(path, "VmRSS") for path in _family()))
        self.peak = max(self.peak, self.own)


def folder_mib(folder: Path) -> float:
    """Return the size of all files in a folder and its subfolders, in MiB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / _MIB


def _family() -> list[Path]:
    """Return the status files of this process and all its descendants."""
    status_files, todo = [], ["self"]
    while todo:
        process = Path("/proc") / todo.pop()
        status_files.append(process / "status")
        for children in process.glob("task/*/children"):
            try:
                todo.extend(children.read_text().split())
            except OSError:
                continue
    return status_files


def _field(path: Path, name: str) -> float:
    try:
        lines = path.read_text().splitlines()
    except OSError:  # the process has ended meanwhile
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith(name + ":"))
