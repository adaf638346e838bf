"""Rendering a chat template in a child process with limits of time, memory and length."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from generation.errors import GenerationError

_WALL_SECONDS = 60.0  # a machine may be busy: what a template takes is limited by processor time
# The path is added behind all others, so that no file beside the package takes the place of a standard module.
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from generation.causal.template_rendering import main; main()"


@dataclass(frozen=True, slots=True)
class TemplateLimits:
    """memory_bytes: address space of the child, Python and Jinja included. cpu_seconds: its processor time, the same.
    longest: characters of what it gives."""

    memory_bytes: int = 1 << 29
    cpu_seconds: int = 10
    longest: int = 1_000_000


_LIMITS = TemplateLimits()


def rendered(template: str, variables: Mapping[str, object], limits: TemplateLimits = _LIMITS) -> str:
    """What the template gives with ``variables`` (JSON values).

    Raises GenerationError with the reason: the template's own error, or the limit it passed.
    """
    request = json.dumps({"template": template, "variables": variables, **asdict(limits)}).encode()
    command = [sys.executable, "-I", "-c", _PROGRAM, str(Path(__file__).parents[2])]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and module
            command,
            input=request,
            capture_output=True,
            timeout=_WALL_SECONDS,
            env={},  # secrets in our environment are none of its business
            start_new_session=True,  # an interrupt at the terminal is ours to handle
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GenerationError(f"it was not done after {_WALL_SECONDS:g} seconds") from error
    except OSError as error:
        raise GenerationError(f"a process to render it in cannot be started ({error.strerror})") from error
    try:
        answer = json.loads(done.stdout)
    except ValueError as error:
        raise GenerationError(_why(done.returncode, done.stderr, limits)) from error
    if "text" not in answer:
        raise GenerationError(str(answer.get("error")))
    return str(answer["text"])


def _why(code: int, said: bytes, limits: TemplateLimits) -> str:
    """What a child that gave no answer died of."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"it takes more than {limits.cpu_seconds} seconds of processor time"
    if b"MemoryError" in said:
        return f"it takes more than {limits.memory_bytes >> 20} MiB of memory"
    if code < 0:
        return f"its process crashed ({signal.Signals(-code).name})"
    return f"its process ended with exit code {code}: {said[-300:].decode('utf-8', 'replace').strip()}"
