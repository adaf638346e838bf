"""Check whether the server stops generating when the client closes the connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.doctor.findings import Finding
from app.doctor.questions import STORY
from generation.decoding.params import SamplingParams

if TYPE_CHECKING:
    from generation.remote.probe import ServerProbe

CHECK = "server cancellation"
_LONG, _PIECES = 256, 4
_SHARE = 0.5  # maximum delay of the next request, as a share of the time that the rest of the answer would take


def cancellation(probe: ServerProbe) -> Iterator[Finding]:
    """Close a long stream after a few pieces, and measure the time of a short request that follows it."""
    one = SamplingParams(max_tokens=1)
    most = max(16, min(_LONG, probe.options.context_length // 4))
    idle = min(probe.ask(STORY, one).seconds for _ in range(2))
    stream = probe.stream(STORY, SamplingParams(max_tokens=most), stop_after=_PIECES)
    after = probe.ask(STORY, one).seconds
    figures = {"idle_s": round(idle, 3), "after_hanging_up_s": round(after, 3)}
    if not stream.closed or stream.first is None:
        yield Finding(CHECK, "ok", "not measured: the answer came in fewer pieces", None, figures)
        return
    each = (stream.seconds - stream.first) / max(1, stream.pieces - 1)
    left = each * (most - stream.pieces)
    figures["rest_of_answer_s"] = round(left, 3)
    measured = f"after hanging up, the next request takes {after:.2f} s ({idle:.2f} s when idle)"
    if after <= idle + _SHARE * left:
        yield Finding(CHECK, "ok", measured, None, figures)
        return
    yield Finding(
        CHECK,
        "warn",
        f"{measured}: the server seems to finish the cancelled answer",
        "cancelled, stopped and late answers continue to use the server's time",
        figures,
    )
