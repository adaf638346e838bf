"""What the CLI writes: data to stdout, progress and messages to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


class Output:
    """Two streams; rich honours NO_COLOR and writes no escape codes into a pipe."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        # A pipe has no width: tables must not be cut to a guess.
        width = None if sys.stdout.isatty() else 120
        self.out = Console(file=sys.stdout, highlight=False, soft_wrap=True, width=width)
        self.err = Console(file=sys.stderr, highlight=False, soft_wrap=True)

    def data(self, text: str) -> None:
        """A line of data on stdout, as it is: nothing in it is markup."""
        self.out.print(text, markup=False, emoji=False)

    def json(self, value: object) -> None:
        """One JSON document on stdout."""
        sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=None) + "\n")
        sys.stdout.flush()

    def say(self, text: str) -> None:
        """A message on stderr."""
        self.err.print(text, markup=False, emoji=False)

    @contextmanager
    def progress(self) -> Iterator[Bar]:
        """A progress bar on stderr with a rate and the time that remains."""
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=self.err,
            transient=not self.err.is_terminal,
        ) as progress:
            yield Bar(progress)


class Bar:
    """One line of progress for each thing that is counted."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def update(self, what: str, done: int, total: int | None, unit: str = "/s") -> None:
        """Set a line's state; made when first named."""
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total, rate="")
        task = self._tasks[what]
        self._progress.update(task, completed=done, total=total)
        speed = self._progress.tasks[self._progress.task_ids.index(task)].speed
        if speed:
            self._progress.update(task, rate=f"{speed:,.1f}{unit}")

    def note(self, what: str, text: str) -> None:
        """Say something of a line that was updated, in place of its rate."""
        self._progress.update(self._tasks[what], rate=text)
