"""What the CLI writes: data to stdout, progress and messages to stderr."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from app.log_lines import LogLines

# All control characters but tabulator and line end. Documents, answers and file names are other people's: what they
# write must not move the cursor, hide text, or talk to the terminal.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_LATE_CONTROLS = re.compile("[\x7f-\x9f]")  # those that JSON does not escape by itself


def printable(text: str) -> str:
    """The text with control characters made visible (``\\x1b``); tabulators and line ends stay."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


class Output:
    """Two streams; rich honours NO_COLOR and writes no escape codes into a pipe. What cannot be written in the
    stream's encoding is written as an escape, never an error."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        # A pipe has no width: tables must not be cut to a guess.
        width = None if sys.stdout.isatty() else 120
        # Nothing is markup, in cells of tables neither: a source may be called "[/bold]".
        self.out = Console(file=sys.stdout, highlight=False, soft_wrap=True, width=width, markup=False, emoji=False)
        self.err = Console(file=sys.stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)

    def data(self, text: str) -> None:
        """A line of data on stdout, as it is: nothing in it is markup."""
        self.out.print(printable(text))

    def piece(self, text: str) -> None:
        """A piece of a line of data on stdout, at once."""
        sys.stdout.write(printable(text))
        sys.stdout.flush()

    def json(self, value: object) -> None:
        """One JSON document on stdout."""
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=None)
        try:
            text.encode(sys.stdout.encoding or "utf-8")
        except UnicodeError:  # another encoding, or half a surrogate pair: JSON has escapes of its own
            text = json.dumps(value, ensure_ascii=True, allow_nan=False, indent=None)
        sys.stdout.write(_LATE_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
        sys.stdout.flush()

    def say(self, text: str) -> None:
        """A message on stderr."""
        self.err.print(printable(text))

    @contextmanager
    def progress(self) -> Iterator[Bar | LogLines]:
        """Progress on stderr with a rate and the time that remains: a bar on a terminal, else a line now and then."""
        if not self.err.is_terminal:
            yield LogLines(self.say, time.monotonic)
            return
        with Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", markup=False),
            TimeRemainingColumn(),
            console=self.err,
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
