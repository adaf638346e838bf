"""The Generator for OpenAI-compatible servers, such as vLLM, SGLang, llama.cpp and hosted ones.

Samples are reproducible only as far as the server honours seeds. vLLM and llama.cpp do so for one server, version and
machine, but not under every load; hosted servers do so at best most of the time. Only the server can count tokens, so
prompt lengths are estimated conservatively, and chunks that do not fit are dropped from the end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from weakref import WeakSet

from generation.causal.prompt_template import PromptTemplate, PromptTurns, default_prompt
from generation.completion import Completion, TextDelta
from generation.decoding.params import SamplingParams
from generation.decoding.streaming import TextFilter
from generation.generator import GenerationTask
from generation.live import Listener
from generation.prompt import Prompt
from generation.remote.bodies import request_body
from generation.remote.clock import Timing
from generation.remote.completion_client import CompletionClient
from generation.remote.connection import Connection
from generation.remote.live import RemoteRequest
from generation.remote.options import RemoteOptions
from generation.remote.pending import PendingReplies
from generation.remote.prompting import RemotePrompter
from retrieval.chunking.chunks import RetrievedChunk


class OpenAIGenerator:
    """A Generator for a model on a server. Call ``close`` when done.

    It sends one request for every seed (or for every prompt, with the option ``one_request``), several at a time. If
    the server finds a prompt too long, its last chunks are dropped one by one; Completion.usage has the number of
    tokens that the server read. Servers do not return token IDs, so completions have none.

    timing: clock of the connection; Timing() if None. template: prompt template; default_prompt() if None.
    """

    def __init__(
        self, options: RemoteOptions, timing: Timing | None = None, template: PromptTemplate | None = None
    ) -> None:
        self._template = template or default_prompt()
        self._options = options
        self._prompter = RemotePrompter(options, self._template)
        self._connection = Connection(options, timing)
        self._completions = CompletionClient(options, self._connection, self._prompter)
        self._stream_pool = ThreadPoolExecutor(options.parallel, thread_name_prefix="remote")
        self._complete_pool = ThreadPoolExecutor(options.parallel, thread_name_prefix="asking")
        self._begun: WeakSet[RemoteRequest] = WeakSet()
        self._closed = False

    def close(self) -> None:
        """Close the connections and cancel requests in progress."""
        self._closed = True
        for request in tuple(self._begun):
            request.cancel()
        self._stream_pool.shutdown(wait=False)
        self._complete_pool.shutdown(wait=False, cancel_futures=True)
        self._connection.close()

    @property
    def name(self) -> str:
        """Name of the model on the server."""
        return self._options.model

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over URL, model, API, prompt template and the server's system_fingerprint, fetched once.

        It does not identify the weights, since a server may load others under the same name.
        """
        options = self._options
        body = request_body(options, PromptTurns("", "Hello"), SamplingParams(max_tokens=1), (0,), logprobs=False)
        fields = self._connection.post(body)
        given = fields.get("system_fingerprint")
        parts = (
            *(options.shown_url, options.model, options.api, given if isinstance(given, str) else ""),
            self._template.sha256,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @property
    def options(self) -> RemoteOptions:
        """The server's address and limits. They include the API key, so do not store them."""
        return self._options

    @property
    def context_length(self) -> int:
        """Size of the server's context window in tokens, from the options."""
        return self._options.context_length

    @property
    def parallel(self) -> int:
        """Maximum number of requests at the same time."""
        return self._options.parallel

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        """See Generator.prompt. token_ids is empty, since only the server knows the tokens."""
        return self._prompter.prompt(question, chunks, max_new_tokens, "")

    def instructed_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, instructions: str
    ) -> Prompt:
        """See InstructedGenerator."""
        return self._prompter.prompt(question, chunks, max_new_tokens, instructions)

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        """See Generator.generate."""
        return self.generate_many((GenerationTask(prompt, params, tuple(seeds)),))[0]

    def generate_many(self, tasks: Sequence[GenerationTask]) -> tuple[tuple[Completion, ...], ...]:
        """See BatchGenerator.generate_many."""
        return self.submit_many(tasks).result()

    def submit_many(self, tasks: Sequence[GenerationTask]) -> PendingReplies:
        """See QueueingGenerator.submit_many. Samples of a prompt are adjacent, to use the server's prefix cache."""
        if self._closed:
            raise RuntimeError("the generator is closed")
        together = self._options.one_request
        groups = [[task.seeds] if together else [(seed,) for seed in task.seeds] for task in tasks]
        return PendingReplies(
            [
                [
                    self._complete_pool.submit(self._completions.complete, task.prompt, task.params, seeds)
                    for seeds in group
                    if seeds
                ]
                for task, group in zip(tasks, groups, strict=True)
            ]
        )

    def begin(self, task: GenerationTask, listener: Listener) -> RemoteRequest:
        """See LiveGenerator.begin. The connections of a cancelled request are shut down at once, in any state.

        With the option ``one_request``, several samples arrive complete instead of streamed.
        """
        samples = range(len(task.seeds))
        request = RemoteRequest(len(samples), listener, task.params.deadline_seconds)
        self._begun.add(request)
        if self._options.one_request and len(samples) > 1:
            self._stream_pool.submit(request.draw, samples, partial(self._complete_samples, task, request))
        else:
            for sample in samples:
                self._stream_pool.submit(request.draw, (sample,), partial(self._stream_sample, task, sample, request))
        return request

    def _complete_samples(self, task: GenerationTask, request: RemoteRequest) -> tuple[Completion, ...]:
        completions = self._completions.complete(task.prompt, task.params, task.seeds)
        for sample, completion in enumerate(completions):
            request.emit(sample, completion.text, completion.thought)
        return completions

    def _stream_sample(self, task: GenerationTask, sample: int, request: RemoteRequest) -> tuple[Completion]:
        emit = partial(request.emit, sample)
        return (self._completions.stream(task.prompt, task.params, task.seeds[sample], emit, request.cancellation),)

    def stream(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> Iterator[TextDelta]:
        """Yield pieces of the completions' texts as they arrive, one sample after the other.

        Closing the iterator closes the connection. Raises the errors of ``generate``, and UnavailableError if the
        server breaks off in the middle. The text returned so far is then not an answer.
        """
        for sample, seed in enumerate(seeds):
            text = TextFilter(params.stop, strip=True)
            for piece in self._completions.stream_text(prompt, params, seed):
                if new := text.feed(piece):
                    yield TextDelta(new, sample)
                if text.stopped:
                    break
            if rest := text.finish():
                yield TextDelta(rest, sample)
