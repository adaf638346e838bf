"""The Generator for decoder checkpoints in Hugging Face or GGUF format."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch

from generation.causal.chat_format import ChatFrame, chat_frame
from generation.causal.prompt import CausalPrompter
from generation.causal.prompt_template import PromptTemplate, default_prompt
from generation.causal.prompted import PromptedGenerator
from generation.citations import find_citations
from generation.completion import Completion, TextDelta, Usage
from generation.decoding.loop import DecodedTokens
from generation.decoding.params import SamplingParams
from generation.decoding.streaming import TextStream
from generation.decoding.thoughts import opens_thought
from generation.engine.core import Engine
from generation.engine.front import EngineFront, StartedRequest
from generation.engine.loading import load_for_engine
from generation.engine.options import EngineOptions
from generation.engine.precision import WeightPrecision
from generation.engine.requests import EngineRequest, RequestResult
from generation.generator import GenerationTask
from generation.live import EngineLoad, FinishedRequest, Listener, report
from generation.prompt import Prompt
from model.checkpoints.end_tokens import eos_token_ids
from model.checkpoints.files import sha256_of
from model.checkpoints.source import fingerprint, tokenizer_text
from model.checkpoints.tokenizer import Tokenizer


class CausalGenerator(PromptedGenerator):
    """A Generator for a decoder checkpoint (a folder or a GGUF file). Its callers share one engine.

    device: device of the model. precision: precision of the weights; fp32 if None. options: options of the engine; by
    default its invariant mode, in which a sample's tokens depend on its prompt and seed alone, and not on other
    requests in the batch. template: prompt template; default_prompt() if None. weights_sha256: see
    model.checkpoints.source.fingerprint.
    """

    def __init__(
        self,
        folder: Path,
        *,
        device: str = "cpu",
        precision: WeightPrecision | None = None,
        options: EngineOptions | None = None,
        template: PromptTemplate | None = None,
        weights_sha256: Callable[[Path], str] = sha256_of,
    ) -> None:
        precision = precision or WeightPrecision(torch.float32)
        loaded = load_for_engine(folder, device, precision)
        self._model = loaded.model
        self._tokenizer = Tokenizer.from_checkpoint(folder)
        self._tokenizer.check_fits(folder, self._model.config.vocab_size)
        self._frame: ChatFrame = chat_frame(folder)
        template = template or default_prompt()
        context_length = self._model.config.max_positions
        self._thinking = opens_thought(self._tokenizer.decode(self._frame.after))
        self._ends = frozenset(eos_token_ids(folder))
        # Output also depends on the tokenizer, the chat frame and the precision.
        tokenizer = hashlib.sha256(tokenizer_text(folder).encode()).hexdigest()
        files = fingerprint(folder, weights_sha256), tokenizer, self._frame, sorted(self._ends)
        parts = (*files, template.sha256, precision.dtype, *((loaded.scheme,) if loaded.scheme else ()))
        prompter = CausalPrompter(self._tokenizer, self._frame, context_length, template)
        super().__init__(folder.name, hashlib.sha256(repr(parts).encode()).hexdigest(), context_length, prompter)
        self._front = EngineFront(Engine(self._model, options or EngineOptions(invariant=True)))

    def token_text(self, token_id: int) -> str:
        """See NamesTokens."""
        return self._tokenizer.decode((token_id,))

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        """See Generator.generate."""
        return self.generate_many((GenerationTask(prompt, params, tuple(seeds)),))[0]

    def generate_many(self, tasks: Sequence[GenerationTask]) -> tuple[tuple[Completion, ...], ...]:
        """See BatchGenerator.generate_many."""
        texts = [[self._text(task.params) for _ in task.seeds] for task in tasks]
        requests = [self._request(task, streams) for task, streams in zip(tasks, texts, strict=True)]
        results = self._front.run(requests)
        return tuple(
            tuple(
                self._completion(decoded, text, task.prompt, seed)
                for decoded, text, seed in zip(result.samples, streams, task.seeds, strict=True)
            )
            for task, result, streams in zip(tasks, results, texts, strict=True)
        )

    def stream(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> Iterator[TextDelta]:
        """Yield pieces of the completions' texts as they are generated.

        The joined pieces of a sample equal the text that ``generate`` returns. Closing the iterator before its end
        cancels the request.
        """
        texts = [self._text(params) for _ in seeds]
        events = self._front.stream(self._request(GenerationTask(prompt, params, tuple(seeds)), None))
        try:
            for event in events:
                text = texts[event.sample]
                piece = "" if event.token_id is None else text.push(event.token_id)
                if event.finish_reason is not None:
                    piece += text.finish()
                if piece:
                    yield TextDelta(piece, event.sample)
        finally:
            events.cancel()

    def begin(self, task: GenerationTask, listener: Listener) -> StartedRequest:
        """See LiveGenerator.begin."""
        streams = [self._text(task.params) for _ in task.seeds]

        def emit(sample: int, piece: str) -> None:
            report(listener, sample, streams[sample], piece)

        def ended(result: RequestResult | Exception) -> None:
            if isinstance(result, Exception):
                listener(result)
                return
            try:
                for sample, stream in enumerate(streams):
                    emit(sample, stream.finish())
                drawn = zip(result.samples, streams, task.seeds, strict=True)
                completions = tuple(self._completion(d, stream, task.prompt, seed) for d, stream, seed in drawn)
            except Exception as error:  # must not run in the thread that drives the engine
                listener(error)
                return
            listener(FinishedRequest(completions, result.shared_tokens))

        return self._front.begin(self._request(task, streams, emit), ended)

    def load(self) -> EngineLoad:
        """See EngineGenerator.load."""
        return EngineLoad(self._front.rows, self._front.free_positions)

    def _text(self, params: SamplingParams) -> TextStream:
        return TextStream(self._tokenizer.decode, params.stop, strip=True, thinking=self._thinking)

    def _request(
        self,
        task: GenerationTask,
        texts: Sequence[TextStream] | None,
        emit: Callable[[int, str], None] = lambda sample, piece: None,
    ) -> EngineRequest:
        """Build the engine request.

        texts: text of each sample, which decoding fills; None if it is only needed to find stop strings. emit: called
        with the sample's index and every piece of text.
        """
        streams = texts or [self._text(task.params) for _ in task.seeds]

        def stopped(sample: int, drawn: DecodedTokens) -> bool:
            emit(sample, streams[sample].push(drawn.token_ids[-1]))
            return streams[sample].stopped

        return EngineRequest(
            task.prompt.token_ids, task.params, task.seeds, self._ends, stopped=stopped, owner=task.owner
        )

    def _completion(self, decoded: DecodedTokens, stream: TextStream, prompt: Prompt, seed: int) -> Completion:
        stream.finish()
        text = stream.text
        return Completion(
            text,
            decoded.token_ids,
            decoded.token_logprobs,
            decoded.finish_reason,
            Usage(len(prompt.token_ids), len(decoded.token_ids)),
            seed,
            find_citations(text, len(prompt.chunks)),
            decoded.top_logprobs,
            thought=stream.thought,
        )
