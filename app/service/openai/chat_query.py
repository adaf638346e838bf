"""Convert a chat request to a query: collection, sampling parameters, and notes on what could not be applied."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from app.answers import QueryRequest
from app.service.engine.live_query import PendingQuery
from app.service.engine.small_talk import small_talk_reply
from app.service.http.access import Caller
from app.service.http.errors import ApiError
from app.service.openai.conversation import read_conversation
from app.service.openai.schemas import ChatBody
from generation.decoding.params import SamplingParams
from generation.errors import ParameterError
from generation.generator import Generator
from generation.live import InstructedGenerator, NamesTokens

_SHARE, _LEAST, _MOST = 16, 32, 1024
"""Default length of an answer in tokens: a sixteenth of the model's context, within these bounds."""
_MAX_SEED = 2**53
"""Upper bound of random seeds, which JavaScript's numbers represent exactly."""


@dataclass(frozen=True, slots=True)
class ChatQuery:
    """A converted chat request. query: the query. seed: the seed that is used. notes: sentences on parts of the request
    that could not be applied.
    """

    query: PendingQuery
    seed: int
    notes: tuple[str, ...]


def convert_chat(body: ChatBody, caller: Caller, generator: Generator) -> ChatQuery:
    """Convert a chat request. Raises ApiError 400 for an invalid or unsupported value; its param names the field."""
    conversation = read_conversation(body.messages)
    if body.logprobs and not isinstance(generator, NamesTokens):
        raise ApiError(
            400,
            f"logprobs is not supported with {generator.name}: its server does not name tokens by id",
            code="unsupported_parameter",
            param="logprobs",
        )
    notes: list[str] = []
    instructed = isinstance(generator, InstructedGenerator)
    if conversation.instructions and not instructed:
        notes.append(f"system messages are ignored: {generator.name} copies short answers from the documents")
    context = generator.context_length
    tokens = body.max_completion_tokens or body.max_tokens
    if tokens is None:
        tokens = min(max(_LEAST, context // _SHARE), _MOST)
    elif tokens >= context:
        notes.append(f"max_tokens is {context // 4} instead of {tokens}: the model's context has {context} tokens")
        tokens = context // 4
    seed = secrets.randbelow(_MAX_SEED) if body.seed is None else body.seed % 2**63
    params = _sampling(body, tokens, seed)
    generator_only = body.model == generator.name
    request = QueryRequest(
        conversation.question,
        None if generator_only else body.model,
        retrieval=not generator_only,
        k=body.k or 4,
        mode=body.mode,
        fusion=body.fusion,
        params=params,
        style=body.style or "short",
    )
    instructions = conversation.instructions if instructed else ""
    query = PendingQuery(
        request,
        caller,
        instructions=instructions,
        verify=bool(body.verify),
        history=conversation.history,
        reply=small_talk_reply(conversation.question),
        policy=body.policy_request(),
    )
    return ChatQuery(query, seed, tuple(notes))


def _sampling(body: ChatBody, tokens: int, seed: int) -> SamplingParams:
    """Return the sampling parameters. Raises ApiError 400 for conflicting values, such as two biases of one token."""
    greedy = body.top_p == 0  # the smallest set of tokens with that probability is the most likely one alone
    try:
        return SamplingParams(
            temperature=body.policy_temperature(body.temperature, body.n or 1),
            top_k=1 if greedy else body.top_k,
            top_p=1.0 if greedy or body.top_p is None else body.top_p,
            max_tokens=tokens,
            stop=tuple(body.stop or ()),
            n=body.n or 1,
            seed=seed,
            min_p=body.min_p or 0.0,
            repetition_penalty=body.repetition_penalty or 1.0,
            logit_bias=tuple((int(token), nats) for token, nats in (body.logit_bias or {}).items()),
            top_logprobs=body.top_logprobs or 0,
        )
    except ParameterError as error:
        raise ApiError(400, str(error), code="invalid_value", param=error.parameter) from error
