"""Run the jobs of the service: index uploaded documents, run evaluations.

``plumbline serve`` starts one such worker in a separate process, so that jobs do not delay answers. You can start more
workers, or run ``plumbline serve --no-worker`` and this command elsewhere, with the same database and home folder.
Ctrl-C or SIGTERM ends the worker. Its current job is queued again and continues where it stopped.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.jobs.worker import Worker

_NICE = 5


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.options import add_model

    parser.add_argument("--once", action="store_true", help="exit when no job is waiting")
    parser.add_argument(
        "--alive-file",
        type=Path,
        metavar="FILE",
        help="touch this file every second, even during a job, for the health check of a container",
    )
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    add_model(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Run jobs until stopped."""
    from app.commands.options import open_pipeline
    from app.commands.serve import logging_to_stderr
    from app.jobs.worker import Worker

    alive = _toucher(arguments.alive_file)
    with open_pipeline(arguments) as pipeline, logging_to_stderr():
        worker = Worker(pipeline, alive=alive)

        def stop(_signal: int, _frame: FrameType | None) -> None:
            worker.stopping.set()

        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if name != signal.SIGHUP or signal.getsignal(name) is not signal.SIG_IGN:
                signal.signal(name, stop)
        if arguments.child:
            os.nice(_NICE)  # queries have priority
            threading.Thread(target=_with_parent, args=(worker,), daemon=True).start()
        if arguments.once:
            worker.tidy()
            while not worker.stopping.is_set() and worker.run_one():
                pass
            return EXIT_OK
        if not arguments.child:
            output.info("plumbline: working (Ctrl-C stops)")
        worker.run()
    return EXIT_OK


def _toucher(file: Path | None) -> Callable[[], None]:
    """Return a function that touches the file. Raises UsageError if the file cannot be written."""
    if file is None:
        return lambda: None
    try:
        file.touch()
    except OSError as error:
        raise UsageError(f"--alive-file {file}: it cannot be written ({error.strerror})") from error

    def touch() -> None:
        with suppress(OSError):  # The health check then finds an old file and reports the worker as unhealthy.
            file.touch()

    return touch


def _with_parent(worker: Worker) -> None:
    """Stop the worker when the parent process exits for any reason, because standard input is closed then."""
    sys.stdin.buffer.read()
    worker.stopping.set()
