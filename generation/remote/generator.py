"""Generator for any OpenAI-compatible server: vLLM, SGLang, llama.cpp, hosted ones.

Samples are reproducible only as far as the server honours seeds: vLLM and llama.cpp do for one server, version and
machine (and not under every load), hosted ones at best mostly. Only the server can count tokens: prompt lengths are
estimated here, conservatively, and chunks that turn out not to fit are dropped from the end.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cached_property, partial
from typing import Any
from weakref import WeakSet

from data.blank import is_blank
from generation.budget import FittedChunk, fit_chunks
from generation.causal.prompt import sentence_ends
from generation.causal.prompt_template import (
    PASSAGE_OVERHEAD,
    SHORT_PASSAGE,
    PromptTemplate,
    PromptTurns,
    default_prompt,
    shown_title,
)
from generation.citations import find_citations
from generation.completion import Completion, TextDelta, Usage
from generation.decoding.params import SamplingParams
from generation.decoding.streaming import TextFilter
from generation.errors import ContextLengthError, GenerationError, UnavailableError
from generation.generator import GenerationTask
from generation.live import Listener
from generation.prompt import Prompt, PromptChunk
from generation.remote.clock import Timing
from generation.remote.connection import Connection, ContextExceededError
from generation.remote.live import RemoteRequest
from generation.remote.options import RemoteOptions
from generation.remote.replies import Reply, delta_of, finish_reason, of_the_answer, read_reply
from generation.remote.streamed import StreamedReply
from retrieval.chunking.chunks import RetrievedChunk

_FRAME_TOKENS = 32  # allowance for the server's unknown chat template
_SURROGATE = re.compile("[\ud800-\udfff]")
_SEEDS = 2**31  # llama.cpp and some others keep 32 bits


class OpenAIGenerator:
    """A model on a server as a Generator. Close it when done.

    One request for every seed, several at a time. If the server finds a prompt too long, its last chunks are dropped
    one by one; Completion.usage says what it read. Servers do not return token ids, so completions have none.
    """

    def __init__(
        self, options: RemoteOptions, timing: Timing | None = None, template: PromptTemplate | None = None
    ) -> None:
        """template: prompt template; default_prompt() unless given."""
        self._template = template or default_prompt()
        self._options = options
        self._connection = Connection(options, timing)
        self._where = f"the server at {options.shown_url}"
        self._threads = ThreadPoolExecutor(options.parallel, thread_name_prefix="remote")
        self._begun: WeakSet[RemoteRequest] = WeakSet()
        self._tells_usage = True

    def close(self) -> None:
        """Close the connections and cancel requests in progress."""
        for request in tuple(self._begun):
            request.cancel()
        self._threads.shutdown(wait=False)
        self._connection.close()

    @property
    def name(self) -> str:
        """The model, as the server names it."""
        return self._options.model

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over URL, model, API, prompt and the server's system_fingerprint, which is fetched once.

        It identifies the request, not the output: a server may load other weights under the same name.
        """
        options = self._options
        body = self._body(PromptTurns("", "Hello"), SamplingParams(max_tokens=1), (0,), logprobs=False)
        fields = self._connection.post(body)
        given = fields.get("system_fingerprint")
        parts = (
            *(options.shown_url, options.model, options.api, given if isinstance(given, str) else ""),
            self._template.sha256,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @property
    def context_length(self) -> int:
        """The server's context window, from the options."""
        return self._options.context_length

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        """See Generator.prompt. token_ids are empty, since only the server knows them."""
        return self.instructed_prompt(question, chunks, max_new_tokens, "")

    def instructed_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, instructions: str
    ) -> Prompt:
        """See InstructedGenerator."""
        if is_blank(question):
            raise GenerationError("the question is empty: ask something")
        budget = self.context_length - max_new_tokens - _FRAME_TOKENS
        bare, one, two = (
            self._estimate(self._template.turns(question, (SHORT_PASSAGE,) * count, instructions).joined)
            for count in range(3)
        )
        if bare > budget:
            raise ContextLengthError(
                f"the question with its frame has about {bare} tokens; the context of {self.context_length} less "
                f"{max_new_tokens} new tokens leaves {max(budget, 0)}: shorten it or ask for fewer new tokens"
            )

        def cost(retrieved: RetrievedChunk, end: int) -> int:
            texts = shown_title(retrieved.chunk), retrieved.chunk.text[:end]
            return max(two - one, 0) + PASSAGE_OVERHEAD + sum(map(self._estimate, texts))

        fit = fit_chunks(chunks, budget - max(bare, one), cost, sentence_ends)
        parts = tuple(PromptChunk(n, f.retrieved, 0, f.end) for n, f in enumerate(fit.shown, start=1))
        return Prompt(question, parts, fit.omitted, (), instructions=instructions)

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        """See Generator.generate."""
        return self.generate_many((GenerationTask(prompt, params, tuple(seeds)),))[0]

    def generate_many(self, tasks: Sequence[GenerationTask]) -> tuple[tuple[Completion, ...], ...]:
        """See BatchGenerator.generate_many."""
        together = self._options.one_request
        groups = [[task.seeds] if together else [(seed,) for seed in task.seeds] for task in tasks]
        pool = ThreadPoolExecutor(self._options.parallel)
        try:
            asked = [
                [pool.submit(self._ask, task.prompt, task.params, seeds) for seeds in group if seeds]
                for task, group in zip(tasks, groups, strict=True)
            ]
            return tuple(tuple(c for future in futures for c in future.result()) for futures in asked)
        finally:
            # The first error, or Ctrl-C, cancels the others; requests in progress are not awaited: see close.
            pool.shutdown(wait=False, cancel_futures=True)

    def begin(self, task: GenerationTask, listener: Listener) -> RemoteRequest:
        """See LiveGenerator. A cancelled request's connections are shut down at once, in any state.

        With ``one_request`` several samples arrive complete instead of streamed.
        """
        samples = range(len(task.seeds))
        request = RemoteRequest(len(samples), listener, task.params.deadline_seconds)
        self._begun.add(request)
        if self._options.one_request and len(samples) > 1:
            self._threads.submit(request.draw, samples, partial(self._drawn_whole, task, request))
        else:
            for sample in samples:
                self._threads.submit(request.draw, (sample,), partial(self._drawn, task, sample, request))
        return request

    def _drawn_whole(self, task: GenerationTask, request: RemoteRequest) -> tuple[Completion, ...]:
        completions = self._ask(task.prompt, task.params, task.seeds)
        for sample, completion in enumerate(completions):
            request.said(sample, completion.text, completion.thought)
        return completions

    def _drawn(self, task: GenerationTask, sample: int, request: RemoteRequest) -> tuple[Completion]:
        """Generate one streamed sample. A refusal comes before the first event, so chunks can still be dropped."""
        shown, seed, params = task.prompt.chunks, task.seeds[sample], task.params
        while True:
            reply = StreamedReply(self._options, params, self._where)
            body = self._body(self._turns(task.prompt, shown), params, (seed,), logprobs=self._options.logprobs)
            asked = self._tells_usage
            body |= {"stream": True, **({"stream_options": {"include_usage": True}} if asked else {})}
            try:
                with closing(self._connection.events(body, None, request.line)) as events:
                    for fields in events:
                        request.said(sample, reply.feed(fields), reply.take_thought())
                        if reply.stopped:
                            break
            except ContextExceededError as error:
                shown = _fewer(shown, error)
                continue
            except Exception as error:  # errors of a shut-down connection: of many types, and expected
                if request.line.reason is None:
                    if asked and isinstance(error, GenerationError) and "stream_options" in str(error):
                        self._tells_usage = False  # an older server, which rejects an unknown field
                        continue
                    raise
            request.said(sample, reply.finish(), reply.take_thought())
            return (reply.completion(seed, len(shown), request.line.reason),)

    def stream(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> Iterator[TextDelta]:
        """Yield the completions' texts as they arrive, one sample after the other.

        Closing the iterator closes the connection.

        Raises UnavailableError as ``generate``, and if the server breaks off in the middle: the text returned so far is
        then not an answer.
        """
        for sample, seed in enumerate(seeds):
            text = TextFilter(params.stop, strip=True)
            for piece in self._pieces(prompt, params, seed):
                if new := text.feed(piece):
                    yield TextDelta(new, sample)
                if text.stopped:
                    break
            if rest := text.finish():
                yield TextDelta(rest, sample)

    def _pieces(self, prompt: Prompt, params: SamplingParams, seed: int) -> Iterator[str]:
        ended = None
        for fields in self._events(prompt, params, seed):
            delta = delta_of(fields, self._options.api, self._where)
            ended = delta.finish_reason or ended
            if delta.text:
                yield delta.text
        if ended is None:
            raise UnavailableError(f"{self._where} broke off its answer without saying that it ended. Ask again")
        finish_reason(ended, self._where)

    def _events(self, prompt: Prompt, params: SamplingParams, seed: int) -> Iterator[dict[str, Any]]:
        """Yield the events of a streamed answer.

        A refusal comes before the first event, so chunks can still be dropped.
        """
        shown = prompt.chunks
        while True:
            body = self._body(self._turns(prompt, shown), params, (seed,), logprobs=False) | {"stream": True}
            try:
                yield from self._connection.events(body, params.deadline_seconds)
                return
            except ContextExceededError as error:
                shown = _fewer(shown, error)

    def _ask(self, prompt: Prompt, params: SamplingParams, seeds: tuple[int, ...]) -> tuple[Completion, ...]:
        """Send one request, with fewer chunks as long as the server finds the prompt too long."""
        shown, logprobs = prompt.chunks, self._options.logprobs
        while True:
            body = self._body(self._turns(prompt, shown), params, seeds, logprobs=logprobs)
            try:
                fields = self._connection.post(body, params.deadline_seconds)
                break
            except ContextExceededError as error:
                shown = _fewer(shown, error)
        reply = read_reply(fields, self._options.api, len(seeds), logprobs, self._where)
        return tuple(_completion(reply, i, params, seed, len(shown)) for i, seed in enumerate(seeds))

    def _body(
        self, turns: PromptTurns, params: SamplingParams, seeds: Sequence[int], *, logprobs: bool
    ) -> dict[str, Any]:
        """Build the request body. Default values are omitted: many servers reject unknown fields."""
        options = self._options
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
        given: dict[str, tuple[object, bool]] = {
            "top_p": (params.top_p, params.top_p < 1),
            "top_k": (params.top_k, params.top_k is not None),
            "min_p": (params.min_p, params.min_p > 0),
            "repetition_penalty": (params.repetition_penalty, params.repetition_penalty != 1.0),
            "min_tokens": (params.min_tokens, params.min_tokens > 0),
            "logit_bias": ({str(token): nats for token, nats in params.logit_bias}, bool(params.logit_bias)),
            "stop": (list(params.stop), bool(params.stop)),
            "n": (len(seeds), len(seeds) > 1),
            "logprobs": (True if chat else 1, logprobs),
        }
        return body | {name: value for name, (value, wanted) in given.items() if wanted}

    def _turns(self, prompt: Prompt, shown: Sequence[PromptChunk]) -> PromptTurns:
        fitted = [FittedChunk(chunk.retrieved, chunk.end) for chunk in shown]
        return self._template.turns(prompt.question, fitted, prompt.instructions)

    def _estimate(self, text: str) -> int:
        """Estimate the number of tokens of a text, rather too high than too low."""
        return math.ceil(len(text.encode("utf-8", errors="replace")) / self._options.bytes_per_token)


def _fewer(shown: tuple[PromptChunk, ...], error: ContextExceededError) -> tuple[PromptChunk, ...]:
    """Drop the last chunk. Raises if none is left: then the question is too long."""
    if not shown:
        raise ContextLengthError(
            f"{error}. No passage is left to drop: shorten the question, or ask for fewer new tokens"
        )
    return shown[:-1]


def _completion(reply: Reply, place: int, params: SamplingParams, seed: int, chunks: int) -> Completion:
    choice = reply.choices[place]
    text = TextFilter(params.stop, strip=True)  # a server may not support stop strings, or so many of them
    text.add_thought(choice.thought)
    text.feed(choice.text)
    text.finish()
    alone = reply.completion_tokens if len(reply.choices) == 1 else None
    logprobs, missing = of_the_answer(choice.logprobs, alone)
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
