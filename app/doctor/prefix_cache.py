"""Check whether the server caches prompts. Plumbline sends the samples of a question in sequence to benefit from it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.doctor.findings import Finding
from app.doctor.questions import passages
from generation.decoding.params import SamplingParams

if TYPE_CHECKING:
    from generation.remote.probe import ServerProbe

CHECK = "server prefix cache"
_SENTENCES = 20
_WORTH = 0.6  # maximum time of the second request, as a share of the first
_LEAST_S = 0.05  # a first request faster than this is too short to compare


def prefix_cache(probe: ServerProbe) -> Iterator[Finding]:
    """Send a new prompt twice, for one token each, and compare the times."""
    question, one = passages(_SENTENCES, secrets.token_hex(3)), SamplingParams(max_tokens=1)
    first, second = (probe.ask(question, one) for _ in range(2))
    cached, read = second.cached_tokens, second.reply.prompt_tokens
    figures = {
        "first_s": round(first.seconds, 3),
        "again_s": round(second.seconds, 3),
        "prompt_tokens": read,
        "cached_tokens": cached,
    }
    counted = f"; the server counts {cached} of {read} prompt tokens as cached" if cached is not None else ""
    times = (
        f"{first.seconds:.2f} s for a new prompt of {read or 'unknown'} tokens, {second.seconds:.2f} s again{counted}"
    )
    if cached or second.seconds < _WORTH * first.seconds or first.seconds < _LEAST_S:
        yield Finding(CHECK, "ok", times, None, figures)
    else:
        yield Finding(CHECK, "warn", times, "slow: for n samples of a question its passages are read n times", figures)
