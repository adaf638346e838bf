"""Starting and ending processes of one's own without a word where people press Ctrl-C, which every process hears."""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import NoReturn

from plumbline_packages import own_packages_first


def start_without_sigint(process: BaseProcess) -> None:
    """Start it with SIGINT held back, until it calls ``work_quietly``: importing what it needs takes it seconds, and an
    interrupt there would print a traceback for each process."""
    resource_tracker.ensure_running()  # started by the first process otherwise, which lets SIGINT through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with own_packages_first():
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def work_quietly() -> None:
    """For the process itself: Ctrl-C is for its parent, which then ends it; SIGTERM ends it in good order, so that its
    libraries take back what they took."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    sys.unraisablehook = _unraisable
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def leave_quietly() -> None:
    """For the process itself, once its work is done: it is on its way out, and SIGTERM would only interrupt that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def end(process: BaseProcess, seconds: float = 5.0) -> None:
    """End it, in good order if that takes no longer than ``seconds``."""
    if process.pid is None:  # it could not be started
        return
    process.terminate()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        process.join()


def _unraisable(found: sys.UnraisableHookArgs) -> None:
    """End the process where the exit by SIGTERM met a destructor or a callback, which would print and drop it."""
    if issubclass(found.exc_type, SystemExit):
        os._exit(0)
    sys.__unraisablehook__(found)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    leave_quietly()
    if sys.is_finalizing():
        os._exit(0)
    sys.exit(0)
