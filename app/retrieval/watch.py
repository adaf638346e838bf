"""Watch folders, and call a build function after their files have changed and then stayed unchanged for a while."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class WatchParams:
    """Intervals of watching, in seconds.

    every: interval of polling. quiet: time without changes before a build. longest: time after the first change when a
    build starts in spite of further changes. retry: delay before a failed build is repeated without changes. Raises
    ValueError for a negative interval.
    """

    every: float = 2.0
    quiet: float = 4.0
    longest: float = 60.0
    retry: float = 60.0

    def __post_init__(self) -> None:
        for name in ("every", "quiet", "longest", "retry"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, not {getattr(self, name)}")


def follow(
    paths: Sequence[Path],
    build: Callable[[], bool],
    clock: Callable[[], float],
    wait: Callable[[float], None],
    params: WatchParams | None = None,
) -> None:
    """Build now and again after each change, until an exception is raised (normally KeyboardInterrupt).

    build: function that reports its own failures and returns whether it succeeded. Changes during a build are detected
    afterwards, because the folders are scanned before it. clock: function that returns a monotonic time in seconds.
    wait: function that sleeps for a number of seconds.
    """
    params = params or WatchParams()
    seen = fingerprint(paths)
    built: str | None = seen
    tried = clock()
    well = build()
    first_change = last_change = 0.0
    while True:
        wait(params.every)
        now = fingerprint(paths)
        time = clock()
        if now != seen:
            last_change = time
            if seen == built:
                first_change = time
            seen = now
        due = seen != built and (time - last_change >= params.quiet or time - first_change >= params.longest)
        if due or (not well and time - tried >= params.retry):
            built = seen
            well = build()
            tried = clock()


def fingerprint(paths: Sequence[Path]) -> str:
    """Return a digest of the names, sizes and times of all files below the paths. Hidden files are left out."""
    digest = hashlib.sha256()
    for path in paths:
        for entry in _entries(os.fsencode(path)):
            digest.update(entry)
    return digest.hexdigest()


def _entries(root: bytes) -> Iterator[bytes]:
    """Yield one line per file, ordered by name. Uses a stack, because trees may be deeper than the recursion limit."""
    stack = [root]
    seen: set[tuple[int, int]] = set()
    while stack:
        path = stack.pop()
        try:
            status = os.stat(path)  # noqa: PTH116 - names may be bytes that are no text
        except OSError as error:
            yield b"%s\0%d\n" % (path, error.errno or 0)
            continue
        yield b"%s\0%d\0%d\0%d\n" % (path, status.st_size, status.st_mtime_ns, status.st_ino)
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            continue
        try:
            with os.scandir(path) as entries:
                seen.add(identity)  # folders only; a link to a parent folder is then not followed again
                names = sorted(entry.name for entry in entries if not entry.name.startswith(b"."))
        except OSError:
            continue
        stack.extend(os.path.join(path, name) for name in reversed(names))  # noqa: PTH118 - see above
