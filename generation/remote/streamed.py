"""Assemble a streamed answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from generation.citations import find_citations
from generation.completion import Completion, FinishReason, Usage
from generation.decoding.params import SamplingParams
from generation.decoding.streaming import TextFilter
from generation.errors import UnavailableError
from generation.remote.options import RemoteOptions
from generation.remote.replies import checked_logprobs, delta_logprobs, delta_of, finish_reason, usage_of


class StreamedReply:
    """A streamed answer, to which events are fed until its completion can be built.

    where: name of the server in messages. refused: the reason why no log-probabilities are requested although the
    options ask for them; "" for none.
    """

    def __init__(self, options: RemoteOptions, params: SamplingParams, where: str, refused: str = "") -> None:
        self._options, self._where = options, where
        self._text = TextFilter(params.stop, strip=True)  # the server may not support stop strings, or only a few
        self._logprobs: list[float] = []
        self._missing = refused if options.logprobs else "not asked for"
        self._ended: object = None
        self._prompt_tokens: int | None = None
        self._completion_tokens: int | None = None

    @property
    def stopped(self) -> bool:
        """Whether a stop string was found, so that the rest of the stream is not needed."""
        return self._text.stopped

    def feed(self, fields: Mapping[str, Any]) -> str:
        """Return the text that became final with this event. Raises UnavailableError for an error object."""
        delta = delta_of(fields, self._options.api, self._where)
        self._ended = delta.finish_reason or self._ended
        self._text.add_thought(delta.thought)
        prompt, drawn = usage_of(fields)
        self._prompt_tokens = self._prompt_tokens if prompt is None else prompt
        self._completion_tokens = self._completion_tokens if drawn is None else drawn
        if not self._missing:
            values, missing = delta_logprobs(fields, self._options.api)
            self._logprobs += values
            if delta.text and missing:  # all or none, because a mean over some of them would be meaningless
                self._missing = missing
        return self._text.feed(delta.text) if delta.text else ""

    def take_thought(self) -> str:
        """Return the reasoning that became final since the previous call."""
        return self._text.take_thought()

    def finish(self) -> str:
        """Return the text that was held back, at the end of the stream."""
        return self._text.finish()

    def completion(self, seed: int, chunks: int, cancel_reason: FinishReason | None) -> Completion:
        """Return the completion. Call ``finish`` first.

        chunks: number of chunks that can be cited. cancel_reason: reason why this side ended the stream; None if it did
        not. Raises UnavailableError if the stream ended without a finish reason, or with an incomplete answer.
        """
        reason: FinishReason
        if self.stopped:
            reason = "stop"
        elif self._ended is not None:
            reason = finish_reason(self._ended, self._where)
        elif cancel_reason is not None:
            reason = cancel_reason
        else:
            raise UnavailableError(f"{self._where} broke off its answer without a finish reason. Try again")
        drawn = self._completion_tokens
        logprobs, wrong = checked_logprobs(() if self._missing else tuple(self._logprobs), drawn)
        return Completion(
            text=self._text.text,
            token_ids=(),
            token_logprobs=logprobs,
            finish_reason=reason,
            usage=Usage(self._prompt_tokens or 0, len(logprobs) if drawn is None else drawn),
            seed=seed,
            citations=find_citations(self._text.text, chunks),
            thought=self._text.thought,
            logprobs_missing=self._missing or wrong,
        )
