"""Check whether the server supports several choices in one request (``n``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.doctor.findings import Finding
from app.doctor.questions import SAMPLED, STORY
from generation.errors import GenerationError

if TYPE_CHECKING:
    from generation.remote.probe import ServerProbe

CHECK = "server n"
_SAME = "not needed: each sample is a separate request with its own seed"


def samples(probe: ServerProbe) -> Iterator[Finding]:
    """Send one request for two choices."""
    try:
        found = probe.ask(STORY, SAMPLED, seed=7, n=2).reply.choices
    except GenerationError as error:
        yield Finding(CHECK, "ok", f"n = 2 is refused; {_SAME} ({error})"[:500], None, {"n_honoured": False})
        return
    honoured = len(found) == 2
    differ = honoured and found[0].text != found[1].text
    if not honoured:
        measured = f"not honoured ({len(found)} choice for n = 2); {_SAME}"
    else:
        measured = (
            f"honoured; its choices {'differ' if differ else 'are equal'}, and are not used: {_SAME.partition(': ')[2]}"
        )
    yield Finding(CHECK, "ok", measured, None, {"n_honoured": honoured, "choices_differ": differ})
