"""Check whether the server lists the model, and whether it refuses unknown names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.doctor.findings import Finding
from app.doctor.questions import GREEDY, STORY
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError

if TYPE_CHECKING:
    from generation.remote.probe import ServerProbe

CHECK = "server model"
UNKNOWN = "plumbline-no-such-model"


def model_names(probe: ServerProbe) -> Iterator[Finding]:
    """Send one request with the name of a model that does not exist."""
    name, listed = probe.options.model, [str(model.get("id")) for model in probe.models()]
    figures = {"listed": name in listed, "models": len(listed)}
    try:
        probe.ask(STORY, SamplingParams(max_tokens=1, temperature=GREEDY.temperature), model=UNKNOWN)
    except GenerationError:
        refuses = True
    else:
        refuses = False
    shown = ", ".join(listed[:5]) or "no list"
    if name in listed or not listed or refuses:
        status = "ok" if refuses or name in listed else "warn"
        found = f"{name!r}; the server lists {shown}; other names are {'refused' if refuses else 'answered too'}"
        advice = None if status == "ok" else "the server does not say which model answers, so record it yourself"
        yield Finding(CHECK, "warn" if advice else "ok", found, advice, {**figures, "refuses_others": refuses})
        return
    yield Finding(
        CHECK,
        "warn",
        f"{name!r} is not listed (the server lists {shown}), but the server answers to any name",
        "use a listed name; with a misspelt name you measure another model without a warning",
        {**figures, "refuses_others": refuses},
    )
