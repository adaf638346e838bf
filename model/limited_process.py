"""Run a function of this package on untrusted data in a child process with limits on time and memory."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_WALL_SECONDS = 60.0  # added to the limit on CPU time, because the machine may be busy
# The path is appended last, so that no file in that folder can shadow a standard module.
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from {module} import main; main()"
# One thread and one heap, because the address space is limited.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}


class LimitedProcessError(Exception):
    """The child process did not answer. The message says which limit it exceeded, or how it ended."""


def ask_child(module: str, request: Mapping[str, object], *, memory_bytes: int, cpu_seconds: int) -> dict[str, object]:
    """Run ``main()`` of ``module`` in a child process and return its JSON answer.

    ``main()`` must call ``take_request`` and ``give_answer``. memory_bytes: limit on the child's address space,
    including the interpreter. cpu_seconds: limit on its CPU time. Raises LimitedProcessError if the child does not
    answer.
    """
    limits = {"memory_bytes": memory_bytes, "cpu_seconds": cpu_seconds}
    command = [sys.executable, "-I", "-c", _PROGRAM.format(module=module), str(Path(__file__).parent.parent)]
    wall = _WALL_SECONDS + cpu_seconds
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and module
            command,
            input=json.dumps({**request, **limits}).encode(),
            capture_output=True,
            timeout=wall,
            env=_ENVIRONMENT,  # the child must not see secrets in our environment
            start_new_session=True,  # the parent handles an interrupt at the terminal
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LimitedProcessError(f"it did not finish within {wall:g} seconds") from error
    except OSError as error:
        raise LimitedProcessError(f"a process for it cannot be started ({error.strerror})") from error
    try:
        answer = json.loads(done.stdout)
    except ValueError as error:
        raise LimitedProcessError(_why(done.returncode, done.stderr, memory_bytes, cpu_seconds)) from error
    if not isinstance(answer, dict):
        raise LimitedProcessError("its process did not answer with a JSON object")
    return answer


def take_request() -> dict[str, object]:
    """Read the request in the child process, set the limits that it states, and return it."""
    request: dict[str, object] = json.loads(sys.stdin.buffer.read())
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, 0)  # it writes only its answer, to a pipe
    limit(resource.RLIMIT_AS, int(str(request["memory_bytes"])))
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(str(request["cpu_seconds"])), hard))  # beyond it: SIGXCPU
    return request


def give_answer(answer: Mapping[str, object]) -> None:
    """Write the answer of the child process to its standard output."""
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.buffer.flush()


def limit(which: int, value: int) -> None:
    """Set a limit of this process, both soft and hard, to at most ``value``."""
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def _why(code: int, stderr: bytes, memory_bytes: int, cpu_seconds: int) -> str:
    """Return why a child process did not answer, as the end of a message."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"it takes more than {cpu_seconds} seconds of processor time"
    if b"MemoryError" in stderr or b"memory allocation of" in stderr:  # the messages of Python, and of Rust
        return f"it takes more than {memory_bytes >> 20} MiB of memory"
    if code < 0:
        return f"its process crashed ({signal.Signals(-code).name})"
    return f"its process ended with exit code {code}: {stderr[-300:].decode('utf-8', 'replace').strip()}"
