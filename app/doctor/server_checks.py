"""All checks of a model's server, in order. Each check sends a few requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from app.doctor.cancellation import cancellation
from app.doctor.context import context
from app.doctor.findings import Finding, guarded
from app.doctor.logprobs import logprobs
from app.doctor.model_names import model_names
from app.doctor.prefix_cache import prefix_cache
from app.doctor.repeatability import repeatability
from app.doctor.samples import samples
from app.doctor.speed import speed
from app.doctor.streaming import streaming
from app.models.generators import is_server
from app.pipeline import Pipeline
from generation.errors import GenerationError

if TYPE_CHECKING:
    from generation.remote.probe import ServerProbe

CHECKS: tuple[tuple[str, Callable[[ServerProbe], Iterator[Finding]]], ...] = (
    ("server model", model_names),
    ("server speed", speed),
    ("server seeds", repeatability),
    ("server n", samples),
    ("server logprobs", logprobs),
    ("server context", context),
    ("server prefix cache", prefix_cache),
    ("server streaming", streaming),
    ("server cancellation", cancellation),
)
_ADVICE = "look at the server's log; the check above the failed one shows what still works"


def server_findings(pipeline: Pipeline) -> Iterator[Finding]:
    """Yield findings on the model's server. Yields nothing for other models, or if the server does not answer."""
    if not is_server(pipeline.settings.model):
        return
    from generation.remote.generator import OpenAIGenerator
    from generation.remote.probe import ServerProbe

    try:
        generator = pipeline.generator
        _ = generator.fingerprint  # sends one request
    except Exception:  # the check "model" reports this error
        return
    if not isinstance(generator, OpenAIGenerator):
        raise GenerationError(f"{pipeline.settings.model!r} did not open a server")
    with closing(ServerProbe(generator.options)) as probe:
        for check, look in CHECKS:
            yield from guarded(check, _ADVICE, partial(look, probe))
