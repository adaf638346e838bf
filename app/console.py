"""Console output: data to stdout, progress and messages to stderr."""

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

# All control characters except tab and newline. Text from documents, answers and file names is untrusted. It must not
# move the cursor, hide text, or send terminal commands.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_LATE_CONTROLS = re.compile("[\x7f-\x9f]")  # those that JSON does not escape


def printable(text: str) -> str:
    """Return the text with control characters escaped (``\\x1b``). Tabs and newlines remain."""
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


class Output:
    """The two output streams of a command.

    rich respects NO_COLOR and writes no escape codes into a pipe. Characters that the stream's encoding lacks are
    escaped instead of raising an error.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        # A pipe has no width, and tables in it must not be truncated.
        width = None if sys.stdout.isatty() else 120
        # No markup anywhere, including table cells, because text such as "[/bold]" may occur in a source.
        self.out = Console(file=sys.stdout, highlight=False, soft_wrap=True, width=width, markup=False, emoji=False)
        self.err = Console(file=sys.stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)

    def data(self, text: str) -> None:
        """Write a line of data to stdout, without markup."""
        self.out.print(printable(text))

    def piece(self, text: str) -> None:
        """Write a part of a line to stdout and flush."""
        sys.stdout.write(printable(text))
        sys.stdout.flush()

    def json(self, value: object) -> None:
        """Write one JSON document to stdout."""
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=None)
        try:
            text.encode(sys.stdout.encoding or "utf-8")
        except UnicodeError:  # for other encodings and lone surrogates, use JSON's own escapes
            text = json.dumps(value, ensure_ascii=True, allow_nan=False, indent=None)
        sys.stdout.write(_LATE_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")
        sys.stdout.flush()

    def info(self, text: str) -> None:
        """Write a message to stderr."""
        self.err.print(printable(text))

    @contextmanager
    def progress(self) -> Iterator[Bar | LogLines]:
        """Yield a progress display on stderr with rate and remaining time: a bar on a terminal, otherwise log lines."""
        if not self.err.is_terminal:
            yield LogLines(self.info, time.monotonic)
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
    """A progress display with one line per task."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def update(self, what: str, done: int, total: int | None, unit: str = "/s") -> None:
        """Set the state of a line, and create the line on first use."""
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total, rate="")
        task = self._tasks[what]
        self._progress.update(task, completed=done, total=total)
        speed = self._progress.tasks[self._progress.task_ids.index(task)].speed
        if speed:
            self._progress.update(task, rate=f"{speed:,.1f}{unit}")

    def note(self, what: str, text: str) -> None:
        """Show a note on an existing line, instead of its rate."""
        self._progress.update(self._tasks[what], rate=text)
