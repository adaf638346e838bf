"""Render a chat template in a child process with limits on time, memory and output length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from generation.errors import GenerationError
from model.limited_process import LimitedProcessError, ask_child


@dataclass(frozen=True, slots=True)
class TemplateLimits:
    """Limits of the child process that renders a template.

    memory_bytes: address space, including Python and Jinja. cpu_seconds: CPU time. longest: maximum length of the
    output, in characters.
    """

    memory_bytes: int = 1 << 29
    cpu_seconds: int = 10
    longest: int = 1_000_000


_LIMITS = TemplateLimits()


def render_limited(template: str, variables: Mapping[str, object], limits: TemplateLimits = _LIMITS) -> str:
    """Return the template's output for ``variables`` (JSON values).

    Raises GenerationError with the template's error, or with the limit that it exceeded.
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
