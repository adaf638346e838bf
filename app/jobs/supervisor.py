"""Run the worker as a child process of the server: start it, restart it after a crash, and end it with the server."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from app.jobs.worker import LOGGER

_GRACE_S = 15.0
_PAUSES_S = (0.5, 2.0, 10.0, 30.0)
"""Delays before restarts, in seconds. They increase, so that a worker that cannot start does not use up the CPU."""


class WorkerProcess:
    """``plumbline work`` as a child process.

    arguments: command-line arguments that name the home and the models. may_start: polled before each start until it
    returns True, because a worker must not create a new database after the old one was removed.
    """

    def __init__(self, arguments: Sequence[str], may_start: Callable[[], bool] = lambda: True) -> None:
        self._may_start = may_start
        # -P: a folder named app in the server's working directory must not shadow ours.
        self._command = [sys.executable, "-P", "-m", "app.cli", "work", "--child", *arguments]
        self._ending = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, name="worker process", daemon=True)

    def __enter__(self) -> WorkerProcess:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()  # the worker then queues its current job again and exits
        self._thread.join(_GRACE_S)
        if process is not None and process.poll() is None:
            process.kill()  # another worker takes its job when the lease expires
            process.wait()

    def _watch(self) -> None:
        log = logging.getLogger(LOGGER)
        died = 0
        while not self._ending.is_set():
            if not self._may_start():
                self._ending.wait(_PAUSES_S[-1])
                continue
            # In its own session, so that Ctrl-C reaches the server only, which then ends the worker.
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                self._command, stdin=subprocess.PIPE, start_new_session=True
            )
            code = self._process.wait()
            if self._ending.is_set():
                return
            pause = _PAUSES_S[min(died, len(_PAUSES_S) - 1)]
            died += 1
            log.error("the worker process ended with code %d; it is started again in %g s", code, pause)
            self._ending.wait(pause)
