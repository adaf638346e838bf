"""Start and end subprocesses that print nothing on Ctrl-C, which every process of the terminal's group receives."""

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
    """Start the process with SIGINT blocked until it calls ``ignore_interrupts``.

    Its imports take seconds, and an interrupt during them would print a traceback for each process.
    """
    resource_tracker.ensure_running()  # otherwise the first process starts it, which unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with own_packages_first():
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C, which the parent handles, and exit cleanly on SIGTERM. Call it in the subprocess."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit_cleanly)
    sys.unraisablehook = _unraisable
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def ignore_termination() -> None:
    """Ignore SIGTERM, because the process is exiting anyway. Call it in the subprocess when its work is done."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def end(process: BaseProcess, seconds: float = 5.0) -> None:
    """Terminate the process, and kill it if it is still running after ``seconds``."""
    if process.pid is None:  # it could not be started
        return
    process.terminate()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        process.join()


def _unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Exit if SIGTERM's SystemExit was raised in a destructor or callback, where Python would print and ignore it."""
    if issubclass(unraisable.exc_type, SystemExit):
        os._exit(0)
    sys.__unraisablehook__(unraisable)


def _exit_cleanly(number: int, frame: FrameType | None) -> NoReturn:
    ignore_termination()
    if sys.is_finalizing():
        os._exit(0)
    sys.exit(0)
