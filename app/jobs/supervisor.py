"""The worker process beside the server: started with it, started again when it dies, ended with it."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from app.jobs.worker import LOGGER

_GRACE_S = 15.0
_PAUSES_S = (0.5, 2.0, 10.0, 30.0)
"""Before it is started again, one after the other: a worker that cannot start must not take the machine's time."""


class WorkerProcess:
    """``plumbline work`` as a child. arguments: those that say which home and which models. may_start: asked before it
    is started, again and again until it says yes: a worker must not make a database anew where one was taken away."""

    def __init__(self, arguments: Sequence[str], may_start: Callable[[], bool] = lambda: True) -> None:
        self._may_start = may_start
        # -P: a folder named app where the server was started must not be taken for ours.
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
            process.stdin.close()  # it ends by itself, and queues what it works on again
        self._thread.join(_GRACE_S)
        if process is not None and process.poll() is None:
            process.kill()  # its job is taken up again when the lease has ended
            process.wait()

    def _watch(self) -> None:
        log = logging.getLogger(LOGGER)
        died = 0
        while not self._ending.is_set():
            if not self._may_start():
                self._ending.wait(_PAUSES_S[-1])
                continue
            # Its own session: a Ctrl-C on the terminal is for the server, which then ends the worker in order.
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
