"""Measure tokens per second of one request, and of several requests at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING

from app.doctor.findings import Finding
from app.doctor.questions import GREEDY, OTHER_STORIES, STORY

if TYPE_CHECKING:
    from generation.remote.probe import ServerProbe

CHECK, TOGETHER = "server speed", "server concurrency"
_WORTH_IT = 1.3  # minimum speed of parallel requests, as a multiple of the speed of one request


def speed(probe: ServerProbe) -> Iterator[Finding]:
    """Send one request, then as many at once as an evaluation sends, but at most six."""
    alone = probe.ask(STORY, GREEDY)
    drawn = alone.reply.completion_tokens
    if not drawn:
        yield Finding(
            CHECK,
            "warn",
            f"{alone.seconds:.2f} s for at most {GREEDY.max_tokens} tokens; the server does not count tokens (usage)",
            "token counts and tokens/s are missing from results and metrics",
        )
        return
    rate = drawn / alone.seconds
    figures = {"tokens_per_second": round(rate, 2), "seconds": round(alone.seconds, 3), "tokens": drawn}
    yield Finding(
        CHECK, "ok", f"{rate:.1f} tokens/s for one request ({drawn} tokens in {alone.seconds:.2f} s)", None, figures
    )
    count = min(len(OTHER_STORIES), probe.options.parallel)
    if count < 2:
        return
    begun = perf_counter()
    found = probe.together(OTHER_STORIES[:count], GREEDY)
    seconds = perf_counter() - begun
    total = sum(reply.reply.completion_tokens or 0 for reply in found) / seconds
    slowest = max(reply.seconds for reply in found)
    yield concurrency_finding(rate, total, slowest, count)


def concurrency_finding(rate: float, total: float, slowest: float, count: int) -> Finding:
    """Return the finding on parallel requests.

    rate: tokens per second of one request. total: tokens per second of all parallel requests together. slowest: time of
    the slowest one in seconds. count: number of parallel requests.
    """
    figures = {"requests": count, "tokens_per_second": round(total, 2), "slowest_s": round(slowest, 3)}
    measured = f"{count} requests at once: {total:.1f} tokens/s in total, the slowest takes {slowest:.2f} s"
    if total >= _WORTH_IT * rate:
        return Finding(TOGETHER, "ok", measured, None, figures)
    return Finding(
        TOGETHER,
        "warn",
        f"{measured}: the server processes requests one after the other",
        "start the server with several slots, or send fewer requests at once (PLUMBLINE_MODEL_PARALLEL=1), so that no "
        "request waits until its timeout",
        figures,
    )
