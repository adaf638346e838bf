"""Commits beside drawing: in order, told once they are there, and none lost when drawing ends in an error."""

from __future__ import annotations

from threading import Event, get_ident

import pytest

from evaluation.runs.committer import Committer, Records


def cell(number: int) -> Records:
    """Cells are told apart by identity here; what is in them is the store's business."""
    return (number,)  # type: ignore[return-value]


class Disk:
    """Keeps what it is given, and waits before the commit that is told to wait."""

    def __init__(self, waits: Records | None = None, fails: Records | None = None) -> None:
        self.stored: list[Records] = []
        self.threads: set[int] = set()
        self.free, self.waits, self.fails = Event(), waits, fails

    def save(self, records: Records) -> None:
        self.threads.add(get_ident())
        if records == self.waits and not self.free.wait(timeout=60):
            raise AssertionError("nobody freed the disk")
        if records == self.fails:
            raise OSError("the disk is full")
        self.stored.append(records)


def test_cells_are_told_in_order_and_only_once_they_are_stored() -> None:
    disk = Disk(waits=cell(2))
    batches: list[Records] = []

    def kept(records: Records) -> None:
        assert records in disk.stored
        batches.append(records)

    with Committer(disk.save, kept) as committer:
        committer.put((cell(1),))
        committer.put((cell(2),))  # comes back although the disk is busy: the next cell can be drawn meanwhile
        assert batches == [cell(1)]
        disk.free.set()
        committer.put((cell(3), cell(4)))
    assert batches == disk.stored == [cell(n) for n in (1, 2, 3, 4)]
    assert len(disk.threads) == 1 and get_ident() not in disk.threads


def test_a_failed_commit_is_raised_and_nothing_is_begun_after_it() -> None:
    disk = Disk(fails=cell(2))
    batches: list[Records] = []
    with pytest.raises(OSError, match="disk is full"), Committer(disk.save, batches.append) as committer:
        committer.put((cell(1), cell(2)))
        committer.put((cell(3),))
    assert batches == disk.stored == [cell(1)]


def test_the_last_commit_may_fail_too() -> None:
    disk = Disk(fails=cell(1))
    with pytest.raises(OSError, match="disk is full"), Committer(disk.save, lambda records: None) as committer:
        committer.put((cell(1),))


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_is_on_its_way_is_stored_when_drawing_ends_in_an_error(error: type[BaseException]) -> None:
    disk = Disk()
    with pytest.raises(error), Committer(disk.save, lambda records: None) as committer:
        committer.put((cell(1),))
        raise error
    assert disk.stored == [cell(1)]


def test_the_first_error_is_the_one_that_is_told() -> None:
    disk = Disk(fails=cell(1))
    with pytest.raises(ValueError, match="the generator"), Committer(disk.save, lambda records: None) as committer:
        committer.put((cell(1),))
        raise ValueError("the generator")
