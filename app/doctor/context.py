"""Check the server's context length, and whether it truncates longer prompts without an error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from app.doctor.findings import Finding
from generation.decoding.params import SamplingParams
from generation.errors import ContextLengthError, GenerationError

if TYPE_CHECKING:
    from generation.remote.probe import ServerProbe

CHECK = "server context"
_LISTED = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx")
_TOLD = re.compile(
    r"(?:context length|context window|n_ctx|context size)\D{0,24}?(\d{2,8})|(\d{2,8})[ -]tokens? (?:context|limit)",
    re.IGNORECASE,
)
_MOST = 16_384  # maximum number of words in the test prompt


def context(probe: ServerProbe) -> Iterator[Finding]:
    """Compare the configured context length with the one in the list of models.

    If the list does not contain it, a prompt that fills the configured context is sent.
    """
    configured = probe.options.context_length
    length = _listed(probe)
    source = "the list of models says so"
    if length is None:
        words = min(configured, _MOST)
        try:
            reply = probe.ask("word " * words, SamplingParams(max_tokens=1))
        except ContextLengthError as error:
            length, source = _stated_length(str(error)), "it refuses longer prompts"
            if length is None:
                yield Finding(
                    CHECK,
                    "warn",
                    f"less than {words} tokens: {error}"[:500],
                    "give the server's length with --model-context; otherwise passages are left out one by one until "
                    "the prompt fits",
                    {"context_length": None, "configured": configured},
                )
                return
        except GenerationError as error:
            yield Finding(
                CHECK,
                "warn",
                f"a prompt of {words} words fails, but not with an error about the context length: {error}"[:500],
                "a long prompt ends in an error instead of being shortened: set --model-context low enough",
                {"context_length": None, "configured": configured},
            )
            return
        else:
            yield _accepted(probe, words, reply.reply.prompt_tokens)
            return
    figures = {"context_length": length, "configured": configured}
    if length < configured:
        yield Finding(
            CHECK,
            "warn",
            f"{length} tokens ({source}), {configured} are configured",
            f"set --model-context {length}; otherwise long prompts are refused, then sent again with fewer passages",
            figures,
        )
    else:
        more = f"; {configured} are used, --model-context sets it" if length > configured else ""
        yield Finding(CHECK, "ok", f"{length} tokens ({source}){more}", None, figures)


def _accepted(probe: ServerProbe, words: int, read: int | None) -> Finding:
    configured = probe.options.context_length
    figures = {"context_length": None, "configured": configured, "sent_words": words, "read_tokens": read}
    if read is not None and read < words:  # a word is at least a token
        return Finding(
            CHECK,
            "fail",
            f"a prompt of {words} words was read as {read} tokens: longer prompts are truncated without an error",
            f"set --model-context {max(16, read // 2)}, or a longer context on the server: a truncated prompt loses "
            "its instruction or its passages, which makes the rates wrong",
            figures,
        )
    return Finding(CHECK, "ok", f"at least {read or words} tokens; {configured} are used", None, figures)


def _listed(probe: ServerProbe) -> int | None:
    """Return the context length that the list of models gives for this model, or None if it gives none."""
    for model in probe.models():
        if model.get("id") == probe.options.model:
            extra = model.get("meta")
            return _length(model) or (_length(extra) if isinstance(extra, dict) else None)
    return None


def _length(fields: Mapping[str, Any]) -> int | None:
    for name in _LISTED:
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 16:
            return value
    return None


def _stated_length(message: str) -> int | None:
    """Return the context length in an error message, or None if there is none."""
    found = _TOLD.search(message)
    return int(found[1] or found[2]) if found else None
