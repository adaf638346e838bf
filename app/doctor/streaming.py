"""Check streams: whether they come in pieces, end properly, count tokens, and work in parallel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.doctor.findings import Finding
from app.doctor.questions import GREEDY, OTHER_STORIES, STORY

if TYPE_CHECKING:
    from generation.remote.probe import ProbeStream, ServerProbe

CHECK, TOGETHER = "server streaming", "server streams together"


def streaming(probe: ServerProbe) -> Iterator[Finding]:
    """Read one stream, then three at the same time."""
    complete, stream = probe.ask(STORY, GREEDY), probe.stream(STORY, GREEDY)
    same = f"{stream.thought}\0{stream.text}" == complete.text
    figures = {
        "pieces": stream.pieces,
        "first_piece_s": None if stream.first is None else round(stream.first, 3),
        "ended": stream.ended,
        "usage": stream.usage,
        "same_as_unstreamed": same,
        "reasoning": bool(stream.thought),
    }
    if not stream.ended:
        yield Finding(
            CHECK,
            "fail",
            "the stream ends without a finish reason",
            "plumbline serve cannot use such streams: see the server's log",
            figures,
        )
        return
    losses = [
        *(["it comes in one piece, so nothing is shown before the end"] if stream.pieces < 2 else []),
        *([] if stream.usage else ["no token counts (stream_options), so plumbline serve counts prompts as 0 tokens"]),
        *([] if same else ["its text differs from the unstreamed answer"]),
    ]
    first = "" if stream.first is None else f", the first after {stream.first:.2f} s"
    reasoning = "; reasoning comes separately" if stream.thought else ""
    measured = f"{stream.pieces} pieces{first}{reasoning}" + "".join(f"; {loss}" for loss in losses)
    yield Finding(
        CHECK,
        "warn" if losses else "ok",
        measured,
        "concerns plumbline serve only; evaluations do not stream" if losses else None,
        figures,
    )
    yield _together(probe.streams((STORY, *OTHER_STORIES[:2]), GREEDY))


def _together(found: list[ProbeStream | Exception]) -> Finding:
    broken = [stream for stream in found if isinstance(stream, Exception) or not stream.ended]
    figures = {"streams": len(found), "broken_off": len(broken)}
    if not broken:
        return Finding(TOGETHER, "ok", f"{len(found)} at once, all complete", None, figures)
    first = broken[0]
    why = f": {first}" if isinstance(first, Exception) else " without a finish reason"
    return Finding(
        TOGETHER,
        "warn",
        f"{len(broken)} of {len(found)} streams at once were broken off{why}"[:500],
        "in plumbline serve, answers to simultaneous questions end in an error. Start llama-cpp-python with "
        "--interrupt_requests False, or serve one request at a time (PLUMBLINE_MAX_ACTIVE=1)",
        figures,
    )
