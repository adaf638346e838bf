"""Parse files within limits until the input ends. This module runs in a child process.

The process is a separate interpreter without environment and terminal (process.py). If the system supports it, it has
no network access and cannot write files (sandbox.py).
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import resource
import threading
import time
import warnings
from pathlib import Path
from typing import IO, Any

from data.parsing.files import parse_file
from data.parsing.frames import FrameError, item_to_json, packed, read_frame
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin
from data.parsing.sandbox import confine
from data.refused import Refused

_STDERR_BYTES = 1 << 20
_OPEN_FILES = 64


def main(parent: int, settings: str, parent_pipe: int) -> None:
    """Parse the files that are requested on standard input, until it ends.

    parent: ID of the parent process. This process ends when the parent ends.
    settings: ParsingLimits as JSON.
    parent_pipe: file descriptor of the reading end of a pipe; only the parent has the writing end.
    """
    limits = ParsingLimits(**json.loads(settings))
    # Frames are written to the original standard output. Output of libraries is redirected to standard error.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb")
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, _STDERR_BYTES)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _limit(resource.RLIMIT_AS, limits.memory_bytes)
    confine()
    _end_with_parent(parent, parent_pipe)
    _send_frame(out, {"ready": True})
    while request := read_frame(requests.read):
        leaving = _serve(request, limits, out)
        _send_frame(out, {"end": True, "leaving": leaving})
        if leaving:
            return


def _serve(request: dict[str, Any], limits: ParsingLimits, out: IO[bytes]) -> bool:
    """Parse one file. Return whether this process must end because it ran out of memory."""
    path = Path(os.fsdecode(bytes.fromhex(request["path"])))
    origin = Origin(request["where"], request["document_id"])
    _extend_cpu_limit(limits)
    try:
        for item in parse_file(path, origin, limits):
            _send_frame(out, item_to_json(item))
            _extend_cpu_limit(limits)
    except MemoryError:
        pass
    except FrameError:
        _send_frame(out, item_to_json(Refused(origin.where, "its text or its outline is too large")))
        return False
    else:
        return False
    _send_frame(
        out, item_to_json(Refused(origin.where, f"it needs more than {limits.memory_bytes:,} bytes of memory to parse"))
    )
    return True


def _send_frame(out: IO[bytes], value: dict[str, Any]) -> None:
    out.write(packed(value))
    out.flush()


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def _extend_cpu_limit(limits: ParsingLimits) -> None:
    """Allow ``cpu_seconds`` more for the next document. After that, the system ends this process (SIGXCPU)."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    until = int(time.process_time()) + 1 + limits.cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (until if hard == resource.RLIM_INFINITY else min(until, hard), hard))


def _end_with_parent(parent: int, parent_pipe: int) -> None:
    """Arrange that this process ends when its parent ends.

    When the writing end of the pipe is closed, the system sends SIGIO, which ends the process even within a regular
    expression that does not release the interpreter. A thread also checks the parent, in case a fork of the parent
    holds the writing end. prctl's PR_SET_PDEATHSIG is not used, because it signals the end of the thread that started
    the child, and jobs run in threads that end.
    """
    fcntl.fcntl(parent_pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(parent_pipe, fcntl.F_SETFL, fcntl.fcntl(parent_pipe, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)

    def check_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.stack_size(1 << 18)
    threading.Thread(target=check_parent, daemon=True).start()
