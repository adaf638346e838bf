"""Check whether the server sends log-probabilities of all tokens, and whether the temperature changes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.doctor.findings import Finding
from app.doctor.questions import GREEDY, STORY
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError

if TYPE_CHECKING:
    from generation.remote.probe import ServerProbe

CHECK = "server logprobs"
_LOST = (
    "signals from log-probabilities are missing (mean log-probability, entropy over samples); rates do not need them"
)
_TOLERANCE = 0.05  # nats, between two evaluations of the same prompt


def logprobs(probe: ServerProbe) -> Iterator[Finding]:
    """Send one greedy request, and compare the first token's log-probability at two temperatures."""
    try:
        found = probe.ask(STORY, GREEDY, logprobs=True)
    except GenerationError as error:
        yield Finding(CHECK, "warn", str(error)[:500], _LOST, {"logprobs": False})
        return
    choice, drawn = found.reply.choices[0], found.reply.completion_tokens
    if not choice.logprobs:
        yield Finding(CHECK, "warn", f"none: {choice.logprobs_missing}", _LOST, {"logprobs": False})
        return
    count = len(choice.logprobs)
    figures: dict[str, float | int | bool | str | None] = {"logprobs": True, "values": count, "tokens": drawn}
    if drawn is not None and abs(count - drawn) > 1:
        advice = "log-probabilities of some tokens are missing (of a model's reasoning); means are over the others"
        yield Finding(CHECK, "warn", f"{count} values for {drawn} tokens", advice, figures)
        return
    cold, warm = (
        probe.ask(STORY, SamplingParams(max_tokens=1, temperature=t), seed=1, logprobs=True).top for t in (0.25, 1.0)
    )
    scaled = cold is not None and warm is not None and abs(cold - warm) > _TOLERANCE
    figures["scaled_by_temperature"] = scaled if cold is not None and warm is not None else None
    if scaled:
        yield Finding(
            CHECK,
            "warn",
            f"one for each of {count} tokens, but scaled by the temperature ({cold:.2f} at 0.25, {warm:.2f} at 1)",
            "log-probabilities are comparable with those of local models only at temperature 1",
            figures,
        )
        return
    yield Finding(CHECK, "ok", f"one for each of {count} tokens, not scaled by the temperature", None, figures)
