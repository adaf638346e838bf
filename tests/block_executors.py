"""An executor for tests of distributed work, with several threads and pickled arguments and results."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class ThreadExecutor:
    """A BlockExecutor with ``count`` workers per group. groups: the groups that it created."""

    def __init__(self, count: int = 2) -> None:
        self.count = count
        self.groups: list[ThreadWorkers] = []

    def workers(self, make: Callable[[], Callable[[Any], Any]], *, models: bool = True) -> ThreadWorkers:
        self.groups.append(ThreadWorkers(make, self.count, models))
        return self.groups[-1]


class ThreadWorkers:
    def __init__(self, make: Callable[[], Callable[[Any], Any]], count: int, models: bool) -> None:
        self.models = models
        self.opened = self.blocks = 0
        self.closed = False
        self.ahead = 2 * count
        self._make = pickle.dumps(make)
        self._pools = [ThreadPoolExecutor(1) for _ in range(count)]
        self._own = threading.local()
        self._lock = threading.Lock()

    def submit(self, block: Any) -> Future[Any]:
        with self._lock:
            pool = self._pools[self.blocks % len(self._pools)]
            self.blocks += 1
        return pool.submit(self._run, pickle.dumps(block))

    def close(self) -> None:
        self.closed = True
        for pool in self._pools:
            pool.shutdown()

    def _run(self, block: bytes) -> Any:
        if not hasattr(self._own, "function"):
            self._own.function = pickle.loads(self._make)()
            self.opened += 1
        return pickle.loads(pickle.dumps(self._own.function(pickle.loads(block))))
