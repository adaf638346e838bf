"""Render a chat template in a child process with limits on time, memory and output length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from generation.errors import GenerationError
from model.limited_process import LimitedProcessError, ask_child


@dataclass(frozen=True, slots=True)
class TemplateLimits:
    """memory_bytes: address space of the child, including Python and Jinja. cpu_seconds: its CPU time.

    longest: maximum number of output characters.
    """

    memory_bytes: int = 1 << 29
    cpu_seconds: int = 10
    longest: int = 1_000_000


_LIMITS = TemplateLimits()


def rendered(template: str, variables: Mapping[str, object], limits: TemplateLimits = _LIMITS) -> str:
    """Return the template's output for ``variables`` (JSON values).

    Raises GenerationError with the reason: the template's own error, or the limit it exceeded.
    """
    request = {"template": template, "variables": variables, "longest": limits.longest}
    try:
        answer = ask_child(
            "generation.causal.template_rendering",
            request,
            memory_bytes=limits.memory_bytes,
            cpu_seconds=limits.cpu_seconds,
        )
    except LimitedProcessError as error:
        raise GenerationError(str(error)) from error
    if "text" not in answer:
        raise GenerationError(str(answer.get("error")))
    return str(answer["text"])
