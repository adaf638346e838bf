"""Build the body of a request to a server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from generation.causal.prompt_template import PromptTurns
from generation.decoding.params import SamplingParams
from generation.remote.options import RemoteOptions

_SURROGATE = re.compile("[\ud800-\udfff]")
_SEEDS = 2**31  # llama.cpp and some other servers keep 32 bits


def request_body(
    options: RemoteOptions, turns: PromptTurns, params: SamplingParams, seeds: Sequence[int], *, logprobs: bool
) -> dict[str, Any]:
    """Return the request body. Fields with default values are omitted, because many servers reject unknown fields."""
    chat = options.api == "chat"
    # Unpaired surrogates cannot be encoded in JSON.
    turns = PromptTurns(*(_SURROGATE.sub("\ufffd", text) for text in (turns.system, turns.user)))
    messages = [{"role": "system", "content": turns.system}] if turns.system else []
    messages.append({"role": "user", "content": turns.user})
    body: dict[str, Any] = {
        "model": options.model,
        **({"messages": messages} if chat else {"prompt": turns.joined}),
        options.length_field: params.max_tokens,
        "temperature": params.temperature,
        "seed": seeds[0] % _SEEDS,
    }
    optional: dict[str, tuple[object, bool]] = {
        "top_p": (params.top_p, params.top_p < 1),
        "top_k": (params.top_k, params.top_k is not None),
        "min_p": (params.min_p, params.min_p > 0),
        "repetition_penalty": (params.repetition_penalty, params.repetition_penalty != 1.0),
        "min_tokens": (params.min_tokens, params.min_tokens > 0),
        "logit_bias": ({str(token): nats for token, nats in params.logit_bias}, bool(params.logit_bias)),
        "stop": (list(params.stop), bool(params.stop)),
        "n": (len(seeds), len(seeds) > 1),
        "logprobs": (True if chat else 1, logprobs),
        # Without it, llama-cpp-python sends no log-probabilities. Other servers send one alternative, which is ignored.
        "top_logprobs": (1, chat and logprobs),
    }
    return body | {name: value for name, (value, included) in optional.items() if included}
