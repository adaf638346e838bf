"""Input and output of the engine: requests, token events and results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generation.completion import FinishReason
from generation.decoding.loop import Calibration, DecodedTokens
from generation.decoding.params import SamplingParams
from generation.errors import ContextLengthError, GenerationError, ParameterError
from model.decoder.config import DecoderConfig

NO_CALIBRATION = Calibration()
"""A calibration that leaves the model's distributions unchanged."""


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """A request for one completion of ``prompt`` per seed.

    prompt: token IDs. end_ids: tokens that finish a sample and are not part of it. first_copyable_id, null_id,
    calibration: see generation.decoding.loop.decode. stopped: called after each token with the sample's index and its
    tokens so far; returns whether to stop. owner: prompts are shared only between requests of the same owner.
    """

    prompt: tuple[int, ...]
    params: SamplingParams
    seeds: tuple[int, ...]
    end_ids: frozenset[int] = frozenset()
    first_copyable_id: int = 0
    null_id: int | None = None
    calibration: Calibration = NO_CALIBRATION
    stopped: Callable[[int, DecodedTokens], bool] | None = None
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Handle:
    """An identifier of a submitted request."""

    number: int


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """A new token of a sample, or the end of a sample, or both.

    sample: index of the sample. token_id: the new token; None if the sample ended without one, by an end token, a
    cancellation, a deadline or an error. logprob: the token's log-probability at temperature 1. top_logprobs: its
    likeliest alternatives, if requested. finish_reason: None if the sample is not finished. error: message of the
    error that ended the sample; "" for none.
    """

    handle: Handle
    sample: int
    token_id: int | None
    logprob: float | None = None
    top_logprobs: tuple[tuple[int, float], ...] = ()
    finish_reason: FinishReason | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class RequestResult:
    """The result of a request.

    samples: one for each seed, in order. shared_tokens: number of prompt tokens reused from other requests.
    """

    samples: tuple[DecodedTokens, ...]
    shared_tokens: int


def check_request(request: EngineRequest, config: DecoderConfig, positions: int, position_bytes: int) -> int:
    """Return the maximum number of tokens of a sample: params.max_tokens, or fewer if the context is shorter.

    positions: capacity of the engine's memory. position_bytes: bytes of each position, for messages. Raises
    GenerationError if the prompt is empty, has tokens outside the vocabulary, is longer than the context, or can never
    fit the engine's memory, and if logit_bias names a token outside the vocabulary.
    """
    length = len(request.prompt)
    if not length:
        raise GenerationError("the prompt has no tokens: at least one is needed")
    wrong = next((token for token in request.prompt if not 0 <= token < config.vocab_size), None)
    if wrong is not None:
        raise GenerationError(
            f"the prompt contains token {wrong}, but the model has tokens 0 to {config.vocab_size - 1}"
        )
    if length > config.max_positions:
        raise ContextLengthError(
            f"the prompt has {length} tokens, but the context has {config.max_positions}: shorten the prompt"
        )
    max_new = min(request.params.max_tokens, config.max_positions - length + 1)
    # The last generated token is never read.
    need = length + max_new - 1
    unknown = next((token for token, _ in request.params.logit_bias if token >= config.vocab_size), None)
    if unknown is not None:
        raise ParameterError(
            "logit_bias", f"logit_bias names token {unknown}, but the model has tokens 0 to {config.vocab_size - 1}"
        )
    if need > positions:
        message = (
            f"the prompt's {length} tokens and up to {max_new} new ones need {need * position_bytes} bytes for keys "
            f"and values, but the engine has {positions * position_bytes}: raise memory_bytes or request fewer tokens"
        )
        raise ContextLengthError(message) if length > positions else ParameterError("max_tokens", message)
    return max_new
