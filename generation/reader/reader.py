"""The embedded reader as a Generator: short answers copied from the chunks, with citations, or a refusal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path

from generation.citations import cite_copied
from generation.completion import Completion, TextDelta, Usage
from generation.decoding.loop import Calibration, DecodedTokens
from generation.decoding.params import SamplingParams
from generation.engine.core import Engine
from generation.engine.front import EngineFront, StartedRequest
from generation.engine.options import EngineOptions
from generation.engine.requests import EngineRequest, RequestResult
from generation.errors import ParameterError
from generation.generator import GenerationTask
from generation.live import EngineLoad, FinishedRequest, Listener
from generation.prompt import Prompt
from generation.reader.prompt import ReaderPrompter
from generation.reader.vocabulary import NO_ANSWER_TEXT, ReaderVocabulary, reader_vocabulary
from generation.surface.surface import SurfaceStream, restore
from model.checkpoints.shipped import shipped_reader
from model.decoder.decoder import Decoder
from model.decoder.packing import pack
from model.reader.prefix_decoder import (
    FIRST_COPYABLE_ID,
    ReaderUse,
    load_prefix_decoder,
    prefix_decoder_fingerprint,
    reader_use,
)
from retrieval.chunking.chunks import RetrievedChunk

NAME = "plumbline-reader"
# The reader's context is short, so this memory holds many samples. Half of it may cache prompts.
_OPTIONS = EngineOptions(memory_bytes=1 << 28, cache_bytes=1 << 27, invariant=True)
_NEVER = -1e4  # nats: a bias that excludes a token; finite, so that no result is NaN


class EmbeddedReader:
    """The embedded reader, a Generator for a prefix decoder.

    folder: the model's folder; the shipped reader if None. device: device of the model. options: options of the engine;
    by default its invariant mode, in which a sample's tokens depend on its prompt and seed alone.
    """

    def __init__(self, folder: Path | None = None, *, device: str = "cpu", options: EngineOptions = _OPTIONS) -> None:
        folder = folder or shipped_reader()
        self._model = load_prefix_decoder(folder, device=device)
        pack(self._model)
        self._use = reader_use(folder)
        self._fingerprint = prefix_decoder_fingerprint(folder)
        self._vocabulary = reader_vocabulary()
        self._prompter = ReaderPrompter(self._vocabulary)
        self._front = EngineFront(Engine(self._model, options))

    @property
    def model(self) -> Decoder:
        """The network, for probing."""
        return self._model

    @property
    def vocabulary(self) -> ReaderVocabulary:
        """The reader's tokenizer and special token IDs."""
        return self._vocabulary

    @property
    def use(self) -> ReaderUse:
        """The reader's calibration: temperature and null bias."""
        return self._use

    def with_use(self, use: ReaderUse) -> EmbeddedReader:
        """Return a reader with the same weights and another calibration.

        The fingerprint is unchanged, so this is only for calibration.
        """
        other = copy(self)
        other._use = use
        return other

    def with_null_bias(self, null_bias: float) -> EmbeddedReader:
        """Return a reader with the same weights and temperature, and another null bias."""
        return self.with_use(replace(self._use, null_bias=null_bias))

    @property
    def name(self) -> str:
        """Display name, ``plumbline-reader``."""
        return NAME

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over the weights and their calibration."""
        return self._fingerprint

    @property
    def context_length(self) -> int:
        """Size of the context in tokens, for prompt and answer together (512 for the shipped reader)."""
        return self._model.config.max_positions

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        """See Generator.prompt."""
        # The end token is predicted but never read, so a complete answer takes max_new_tokens - 1 positions.
        budget = self.context_length - max_new_tokens + 1
        if budget < 3:
            raise ParameterError(
                "max_tokens",
                f"max_tokens is {max_new_tokens}: the reader's context of {self.context_length} tokens leaves no space "
                "for a question",
            )
        return self._prompter.prompt(question, chunks, budget)

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        """See Generator.generate."""
        return self.generate_many((GenerationTask(prompt, params, tuple(seeds)),))[0]

    def generate_many(self, tasks: Sequence[GenerationTask]) -> tuple[tuple[Completion, ...], ...]:
        """See BatchGenerator.generate_many."""
        results = self._front.run([self._request(task) for task in tasks])
        return tuple(
            tuple(
                self._completion(decoded, task.prompt, task.params, seed)
                for decoded, seed in zip(result.samples, task.seeds, strict=True)
            )
            for task, result in zip(tasks, results, strict=True)
        )

    def begin(self, task: GenerationTask, listener: Listener) -> StartedRequest:
        """See LiveGenerator.begin.

        Text that a later token may still change is held back. With stop strings, all text is held back to the end.
        """
        streams = [SurfaceStream(task.prompt, self._vocabulary.tokenizer) for _ in task.seeds]
        texts = [""] * len(task.seeds)

        def emit(sample: int, piece: str) -> None:
            if piece:
                texts[sample] += piece
                listener(TextDelta(piece, sample))

        def ended(result: RequestResult | Exception) -> None:
            if isinstance(result, Exception):
                listener(result)
                return
            try:
                drawn = zip(result.samples, task.seeds, strict=True)
                completions = tuple(self._completion(d, task.prompt, task.params, seed) for d, seed in drawn)
            except Exception as error:  # must not run in the thread that drives the engine
                listener(error)
                return
            for sample, completion in enumerate(completions):
                emit(sample, completion.text[len(texts[sample]) :])
            listener(FinishedRequest(completions, result.shared_tokens))

        def on_tokens(sample: int, drawn: DecodedTokens) -> None:
            emit(sample, streams[sample].push(drawn))

        return self._front.begin(self._request(task, on_tokens), ended)

    def load(self) -> EngineLoad:
        """See EngineGenerator.load."""
        return EngineLoad(self._front.rows, self._front.free_positions)

    def token_text(self, token_id: int) -> str:
        """See NamesTokens. A token that continues a word starts with ``##``."""
        return self._vocabulary.tokenizer.token(token_id)

    def _request(
        self, task: GenerationTask, on_tokens: Callable[[int, DecodedTokens], None] | None = None
    ) -> EngineRequest:
        """Build the engine request.

        on_tokens: called with a sample's index and its tokens so far, unless there are stop strings, which could revoke
        it.
        """
        vocabulary = self._vocabulary

        def stopped(sample: int, drawn: DecodedTokens) -> bool:
            if drawn.token_ids[:1] == (vocabulary.no_answer,):
                return True
            if not task.params.stop:
                if on_tokens is not None:
                    on_tokens(sample, drawn)
                return False
            # Stop strings are matched in the restored text, because the tokenizer changes spaces ("1,200" to "1, 200").
            text = restore(drawn, task.prompt, vocabulary.tokenizer).text
            return _first_stop(text, task.params.stop) is not None

        # Without passages the reader never declines but guesses, as the closed_book arm requires.
        bias = self._use.null_bias if task.prompt.chunks else _NEVER
        return EngineRequest(
            task.prompt.token_ids,
            task.params,
            task.seeds,
            frozenset((vocabulary.separator,)),
            first_copyable_id=FIRST_COPYABLE_ID,
            null_id=vocabulary.no_answer,
            calibration=Calibration(self._use.temperature, (vocabulary.no_answer, bias)),
            stopped=stopped,
            owner=task.owner,
        )

    def _completion(self, decoded: DecodedTokens, prompt: Prompt, params: SamplingParams, seed: int) -> Completion:
        usage = Usage(len(prompt.token_ids), len(decoded.token_ids))
        if decoded.token_ids and decoded.token_ids[0] == self._vocabulary.no_answer:
            return Completion(
                NO_ANSWER_TEXT,
                decoded.token_ids,
                decoded.token_logprobs,
                "stop",
                usage,
                seed,
                top_logprobs=decoded.top_logprobs,
            )
        surface = restore(decoded, prompt, self._vocabulary.tokenizer)
        cut = _first_stop(surface.text, params.stop)
        if cut is not None:
            # The answer is cut at the stop string and has no citations.
            text = surface.text[:cut].rstrip()
            return Completion(
                text,
                decoded.token_ids,
                decoded.token_logprobs,
                "stop",
                usage,
                seed,
                top_logprobs=decoded.top_logprobs,
            )
        cited = cite_copied(surface)
        return Completion(
            cited.text,
            decoded.token_ids,
            decoded.token_logprobs,
            decoded.finish_reason,
            usage,
            seed,
            cited.citations,
            decoded.top_logprobs,
        )


def _first_stop(text: str, stops: Sequence[str]) -> int | None:
    # The reader's tokens are lower case but the restored text is not, so stop strings match in any case. str.lower is
    # not used, because it may lengthen a text and shift offsets.
    matches = [re.search(re.escape(stop), text, re.IGNORECASE) for stop in stops]
    return min((match.start() for match in matches if match), default=None)
