"""Request completions from a server, complete or streamed, and repeat refused requests in another form.

If the server finds a prompt too long, it is sent again with fewer chunks. If it refuses log-probabilities or
``stream_options``, the request is sent again without them. If a stream ends before its first event, the request is sent
again without streaming.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from generation.citations import find_citations
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.decoding.streaming import TextFilter
from generation.errors import ContextLengthError, GenerationError, UnavailableError
from generation.prompt import Prompt, PromptChunk
from generation.remote.bodies import request_body
from generation.remote.cancellation import RequestCancellation
from generation.remote.connection import Connection
from generation.remote.options import RemoteOptions
from generation.remote.prompting import RemotePrompter
from generation.remote.refusals import BrokenStreamError, ContextExceededError, LogprobsRefusedError
from generation.remote.replies import Reply, checked_logprobs, delta_of, finish_reason, read_reply
from generation.remote.streamed import StreamedReply

Emit = Callable[[str, str], None]
"""Callback that receives a piece of text and a piece of reasoning. Either may be empty."""


class CompletionClient:
    """A client that requests completions from one server. It is thread-safe and remembers unsupported features."""

    def __init__(self, options: RemoteOptions, connection: Connection, prompter: RemotePrompter) -> None:
        self._options, self._connection, self._prompter = options, connection, prompter
        self._where = f"the server at {options.shown_url}"
        self._sends_usage = True
        self._logprobs_refused = ""  # the server's reason

    def complete(
        self,
        prompt: Prompt,
        params: SamplingParams,
        seeds: tuple[int, ...],
        cancellation: RequestCancellation | None = None,
    ) -> tuple[Completion, ...]:
        """Request one completion per seed in one request, without streaming.

        cancellation: allows another thread to cancel the request.
        """
        shown = prompt.chunks
        while True:
            logprobs, refused = self._requests_logprobs, self._logprobs_refused
            body = self._body(prompt, shown, params, seeds, logprobs=logprobs)
            try:
                fields = self._connection.post(body, params.deadline_seconds, cancellation)
                break
            except ContextExceededError as error:
                shown = _without_last(shown, error)
            except LogprobsRefusedError as error:
                self._stop_requesting_logprobs(error, logprobs)
        reply = read_reply(fields, self._options.api, len(seeds), logprobs, self._where)
        found = (_completion(reply, i, params, seed, len(shown)) for i, seed in enumerate(seeds))
        return tuple(replace(c, logprobs_missing=refused) if refused else c for c in found)

    def stream(
        self, prompt: Prompt, params: SamplingParams, seed: int, emit: Emit, cancellation: RequestCancellation
    ) -> Completion:
        """Request one completion as a stream.

        emit: called with text and reasoning as they become final. cancellation: allows another thread to cancel the
        request, which then returns what has arrived. A refusal comes before the first event, so chunks can still be
        dropped.
        """
        shown = prompt.chunks
        while True:
            logprobs, usage = self._requests_logprobs, self._sends_usage
            reply = StreamedReply(self._options, params, self._where, self._logprobs_refused)
            body = self._body(prompt, shown, params, (seed,), logprobs=logprobs)
            body |= {"stream": True, **({"stream_options": {"include_usage": True}} if usage else {})}
            begun = False
            try:
                with closing(self._connection.events(body, None, cancellation)) as events:
                    for fields in events:
                        begun = True
                        emit(reply.feed(fields), reply.take_thought())
                        if reply.stopped:
                            break
            except ContextExceededError as error:
                shown = _without_last(shown, error)
                continue
            except LogprobsRefusedError as error:
                self._stop_requesting_logprobs(error, logprobs)
                continue
            except Exception as error:  # a connection that was shut down raises errors of many types
                if cancellation.reason is None:
                    if usage and isinstance(error, GenerationError) and "stream_options" in str(error):
                        self._sends_usage = False  # an older server, which rejects unknown fields
                        continue
                    if not isinstance(error, BrokenStreamError) or begun:
                        raise
            if not begun and cancellation.reason is None:
                # Some servers break off a stream where they would refuse other requests with a reason.
                return self._unstreamed(replace(prompt, chunks=shown), params, seed, emit, cancellation)
            emit(reply.finish(), reply.take_thought())
            return reply.completion(seed, len(shown), cancellation.reason)

    def stream_text(self, prompt: Prompt, params: SamplingParams, seed: int) -> Iterator[str]:
        """Yield the unfiltered text of a stream as it arrives. Raises UnavailableError if the server breaks off."""
        ended = None
        for fields in self._events(prompt, params, seed):
            delta = delta_of(fields, self._options.api, self._where)
            ended = delta.finish_reason or ended
            if delta.text:
                yield delta.text
        if ended is None:
            raise UnavailableError(f"{self._where} broke off its answer without a finish reason. Try again")
        finish_reason(ended, self._where)

    def _events(self, prompt: Prompt, params: SamplingParams, seed: int) -> Iterator[dict[str, Any]]:
        shown = prompt.chunks
        while True:
            body = self._body(prompt, shown, params, (seed,), logprobs=False) | {"stream": True}
            try:
                yield from self._connection.events(body, params.deadline_seconds)
                return
            except ContextExceededError as error:
                shown = _without_last(shown, error)

    def _unstreamed(
        self, prompt: Prompt, params: SamplingParams, seed: int, emit: Emit, cancellation: RequestCancellation
    ) -> Completion:
        try:
            (completion,) = self.complete(prompt, params, (seed,), cancellation)
        except Exception:  # as in stream
            if cancellation.reason is None:
                raise
            return Completion("", (), (), cancellation.reason, Usage(0, 0), seed)
        emit(completion.text, completion.thought)
        return completion

    def _body(
        self,
        prompt: Prompt,
        shown: tuple[PromptChunk, ...],
        params: SamplingParams,
        seeds: tuple[int, ...],
        *,
        logprobs: bool,
    ) -> dict[str, Any]:
        return request_body(self._options, self._prompter.turns(prompt, shown), params, seeds, logprobs=logprobs)

    @property
    def _requests_logprobs(self) -> bool:
        return self._options.logprobs and not self._logprobs_refused

    def _stop_requesting_logprobs(self, error: LogprobsRefusedError, requested: bool) -> None:
        """Stop requesting log-probabilities. requested: whether they were requested; if not, the error is raised."""
        if not requested:
            raise error
        self._logprobs_refused = str(error)


def _without_last(shown: tuple[PromptChunk, ...], error: ContextExceededError) -> tuple[PromptChunk, ...]:
    """Return the chunks without the last one. Raises ContextLengthError if there are none."""
    if not shown:
        raise ContextLengthError(
            f"{error}. All passages were dropped: shorten the question, or request fewer new tokens"
        )
    return shown[:-1]


def _completion(reply: Reply, index: int, params: SamplingParams, seed: int, chunks: int) -> Completion:
    choice = reply.choices[index]
    text = TextFilter(params.stop, strip=True)  # the server may not support stop strings, or only a few
    text.add_thought(choice.thought)
    text.feed(choice.text)
    text.finish()
    alone = reply.completion_tokens if len(reply.choices) == 1 else None
    logprobs, missing = checked_logprobs(choice.logprobs, alone)
    drawn = alone if alone is not None else len(logprobs)
    return Completion(
        text=text.text,
        token_ids=(),
        token_logprobs=logprobs,
        finish_reason="stop" if text.stopped else choice.finish_reason,
        usage=Usage(reply.prompt_tokens or 0, drawn),
        seed=seed,
        citations=find_citations(text.text, chunks),
        thought=text.thought,
        logprobs_missing=choice.logprobs_missing or missing,
    )
