from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.retrieval.index_progress import GraphNotice, ProgressLines, remaining
from app.retrieval.watch import WatchParams, fingerprint, follow
from retrieval.indexing.report import IndexProgress


class Time:
    """A clock that advances only when it waits. It runs one step of a script per wait, then ends."""

    def __init__(self, script: list[Callable[[], object]]) -> None:
        self.now = 0.0
        self._script = iter(script)

    def clock(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds
        act = next(self._script, None)
        if act is None:
            raise KeyboardInterrupt
        act()


def nothing() -> None:
    """A step of the script without changes."""


PARAMS = WatchParams(every=1, quiet=2, longest=6, retry=5)


def built_at(folder: Path, script: list[Callable[[], object]], wells: list[bool] | None = None) -> list[float]:
    time = Time(script)
    times: list[float] = []
    outcomes = iter(wells or [])

    def build() -> bool:
        times.append(time.now)
        return next(outcomes, True)

    with pytest.raises(KeyboardInterrupt):
        follow([folder], build, time.clock, time.wait, PARAMS)
    return times


def test_builds_at_once_and_after_a_change_has_kept_still(tmp_path: Path) -> None:
    write = (tmp_path / "a.txt").write_text
    assert built_at(tmp_path, [nothing] * 9) == [0]
    assert built_at(tmp_path, [nothing, lambda: write("1"), *[nothing] * 6]) == [0, 4]
    # Every further change starts the quiet time anew.
    assert built_at(tmp_path, [lambda: write("22"), lambda: write("333"), *[nothing] * 6]) == [0, 4]


def test_a_folder_that_never_keeps_still_is_built_all_the_same(tmp_path: Path) -> None:
    changes = [lambda n=n: (tmp_path / "log.txt").write_text("x" * n) for n in range(16)]
    assert built_at(tmp_path, changes) == [0, 7, 14]


def test_a_failed_build_is_tried_again_later_and_after_a_change(tmp_path: Path) -> None:
    assert built_at(tmp_path, [nothing] * 7, [False, True]) == [0, 5]
    write = (tmp_path / "a.txt").write_text
    assert built_at(tmp_path, [lambda: write("1"), *[nothing] * 5], [False, True]) == [0, 3]


def test_a_change_during_a_build_is_built_afterwards(tmp_path: Path) -> None:
    time = Time([nothing] * 6)
    times = []

    def build() -> bool:
        times.append(time.now)
        if len(times) == 1:
            (tmp_path / "late.txt").write_text("late")
        return True

    with pytest.raises(KeyboardInterrupt):
        follow([tmp_path], build, time.clock, time.wait, PARAMS)
    assert times == [0, 3]


def test_the_fingerprint_sees_what_matters_and_ends_in_loops(tmp_path: Path) -> None:
    seen = {fingerprint([tmp_path])}

    def changed() -> bool:
        size = len(seen)
        seen.add(fingerprint([tmp_path]))
        return len(seen) > size

    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_text("1")
    assert changed() and not changed()
    os.utime(tmp_path / "a" / "b.txt", ns=(1, 1))
    assert changed()
    (tmp_path / "a" / "b.txt").rename(tmp_path / "a" / "c\n.txt")
    assert changed()
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "nowhere").symlink_to(tmp_path / "none")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")).write_text("bytes")
    assert changed() and not changed()
    (tmp_path / ".hidden").write_text("x")
    stable = fingerprint([tmp_path / "a"])
    (tmp_path / "a" / ".part").write_text("x")
    os.utime(tmp_path / "a", ns=(5, 5))
    fingerprint([tmp_path / "a"])
    assert fingerprint([tmp_path / "gone"]) != stable


def test_wrong_seconds_are_refused() -> None:
    with pytest.raises(ValueError, match="quiet"):
        WatchParams(quiet=-1)


def test_lines_say_the_rate_and_what_is_left_now_and_then() -> None:
    time = Time([nothing] * 100)
    messages: list[str] = []
    lines = ProgressLines(messages.append, time.clock, every=30)
    for second in range(101):
        lines.update(IndexProgress("documents", second, None))
        lines.update(IndexProgress("vectors", second * 50, 50_000 if second > 40 else None))
        time.now += 1
    assert messages == [
        "chunks embedded: 1,500, 50.0/s",
        "chunks embedded: 3,000 of 50,000, 50.0/s, 16 min left",
        "chunks embedded: 4,500 of 50,000, 50.0/s, 15 min left",
    ]


def test_a_long_graph_is_announced_once_with_what_is_faster() -> None:
    time = Time([nothing] * 100)
    messages: list[str] = []
    notice = GraphNotice(messages.append, time.clock)
    for step in range(1, 20):
        for kind in ("flat", "ivf", "hnsw-int8"):
            notice.update(IndexProgress("index", step * 4_000, 400_000, kind))  # type: ignore[arg-type]
        notice.update(IndexProgress("vectors", step * 4_000, 10**6))
        time.now += 2
    assert len(messages) == 1
    assert "HNSW" in messages[0] and "400,000" in messages[0]
    assert "--index ivf" in messages[0]
    short: list[str] = []
    notice = GraphNotice(short.append, time.clock)
    for step in range(1, 11):
        notice.update(IndexProgress("index", step * 4_000, 40_000, "hnsw"))
        time.now += 2
    assert short == []


def test_a_graph_slows_down_and_the_time_that_remains_knows_it() -> None:
    def graph(done: int, total: int | None) -> IndexProgress:
        return IndexProgress("index", done, total, "hnsw")

    assert remaining(IndexProgress("index", 10_000, 100_000, "flat"), 0, 5.0) == pytest.approx(45.0)
    slowed = remaining(graph(10_000, 100_000), 0, 5.0)
    assert slowed is not None and slowed > 45.0
    assert remaining(graph(100_000, 100_000), 0, 5.0) == 0.0
    assert remaining(graph(10_000, None), 0, 5.0) is None
    assert remaining(graph(10_000, 100_000), 10_000, 5.0) is None
