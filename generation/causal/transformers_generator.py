"""The Generator that uses transformers, as a reference and for architectures that the engine does not support.

Prompts and greedy tokens are those of CausalGenerator. Sampled tokens differ, since transformers maps seeds to tokens
differently. Samples are generated one at a time without sharing, at a fraction of the engine's speed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import torch

from generation.causal.chat_format import chat_frame
from generation.causal.prompt import CausalPrompter
from generation.causal.prompt_template import PromptTemplate, default_prompt
from generation.causal.prompted import PromptedGenerator
from generation.citations import find_citations
from generation.completion import Completion, FinishReason, Usage
from generation.decoding.params import SamplingParams
from generation.decoding.sampling import check_finite, top_logprobs
from generation.decoding.streaming import TextStream
from generation.decoding.thoughts import opens_thought
from generation.errors import ParameterError
from generation.generator import GenerationTask
from generation.live import FinishedRequest, Listener, LiveRequest, report
from generation.prompt import Prompt
from model.checkpoints.checkpoint import CONFIG, read_checkpoint
from model.checkpoints.end_tokens import eos_token_ids
from model.checkpoints.files import sha256_of
from model.checkpoints.foreign_limits import refuse_huge_numbers, refuse_more_than_is_stored
from model.checkpoints.source import fingerprint
from model.checkpoints.tokenizer import Tokenizer
from model.errors import ModelError


class TransformersGenerator(PromptedGenerator):
    """A Generator for a checkpoint folder that ``AutoModelForCausalLM`` loads.

    Only safetensors files are loaded, and no code from the checkpoint is run. device, dtype: device and data type of
    the model. template: prompt template; default_prompt() if None. weights_sha256: see
    model.checkpoints.source.fingerprint.
    """

    def __init__(
        self,
        folder: Path,
        *,
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
        template: PromptTemplate | None = None,
        weights_sha256: Callable[[Path], str] = sha256_of,
    ) -> None:
        self._model = _load(folder, device, dtype)
        self._tokenizer = Tokenizer(folder / "tokenizer.json")
        embedding = int(self._model.get_input_embeddings().weight.shape[0])
        self._tokenizer.check_fits(folder, embedding)
        frame = chat_frame(folder)
        context_length = int(self._model.config.get_text_config().max_position_embeddings)
        template = template or default_prompt()
        self._thinking = opens_thought(self._tokenizer.decode(frame.after))
        self._ends = frozenset(eos_token_ids(folder))
        parts = (
            f"transformers {version('transformers')}",
            fingerprint(folder, weights_sha256),
            sha256_of(folder / "tokenizer.json"),
            frame,
            template.sha256,
            sorted(self._ends),
            dtype,
        )
        prompter = CausalPrompter(self._tokenizer, frame, context_length, template)
        super().__init__(folder.name, hashlib.sha256(repr(parts).encode()).hexdigest(), context_length, prompter)
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="transformers")

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        """See Generator.generate.

        Raises ModelOutputError if the probabilities are NaN, and ParameterError if a biased token does not exist.
        """
        return tuple(self._sample(prompt, params, seed) for seed in seeds)

    def begin(self, task: GenerationTask, listener: Listener) -> LiveRequest:
        """See LiveGenerator.begin. Requests run one after the other. A cancelled request ends at its next token."""
        begun = _Begun(task.params.deadline_seconds)
        self._threads.submit(self._live, task, listener, begun)
        return begun

    def _live(self, task: GenerationTask, listener: Listener, begun: _Begun) -> None:
        def emit(sample: int, stream: TextStream, piece: str) -> None:
            report(listener, sample, stream, piece)

        drawn: list[Completion] = []
        try:
            for sample, seed in enumerate(task.seeds):
                params = replace(task.params, deadline_seconds=begun.left())
                drawn.append(self._sample(task.prompt, params, seed, partial(emit, sample), begun.cancelled.is_set))
        except Exception as error:  # every error goes to the listener
            listener(error)
            return
        listener(FinishedRequest(tuple(drawn)))

    def _sample(
        self,
        prompt: Prompt,
        params: SamplingParams,
        seed: int,
        emit: Callable[[TextStream, str], None] = lambda stream, piece: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Completion:
        """Generate one sample.

        emit: called with the text stream and every piece of final text. cancelled: checked at every token; returns
        whether to stop.
        """
        if cancelled():
            return Completion("", (), (), "cancelled", Usage(len(prompt.token_ids), 0), seed)
        device = self._model.device
        length = len(prompt.token_ids)
        max_new = min(params.max_tokens, self._context_length - length + 1)
        stream = TextStream(self._tokenizer.decode, params.stop, strip=True, thinking=self._thinking)
        ids = torch.tensor([prompt.token_ids], device=device)
        # The seed must not affect other uses of the random number generator, nor they this sample.
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []), torch.inference_mode():
            torch.manual_seed(seed)
            out = self._model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                generation_config=self._settings(params, max_new),
                logits_processor=[_finite],
                stopping_criteria=[self._stopping(stream, emit, cancelled)],
            )
        drawn = out.sequences[0, length:].tolist()
        ended = bool(drawn) and drawn[-1] in self._ends
        kept = drawn[:-1] if ended else drawn
        logprobs = torch.log_softmax(torch.cat(out.logits)[: len(kept)].float(), dim=-1)  # (A, V)
        emit(stream, stream.finish())
        return Completion(
            text=stream.text,
            token_ids=tuple(kept),
            token_logprobs=tuple(logprobs[range(len(kept)), kept].tolist()) if kept else (),
            finish_reason=_finish(ended or stream.stopped, len(drawn) >= max_new, cancelled()),
            usage=Usage(length, len(kept)),
            seed=seed,
            citations=find_citations(stream.text, len(prompt.chunks)),
            thought=stream.thought,
            top_logprobs=top_logprobs(logprobs, [params.top_logprobs] * len(kept)) if params.top_logprobs else (),
        )

    def _settings(self, params: SamplingParams, max_new: int) -> Any:
        """Return a GenerationConfig. All settings are explicit, so that generation_config.json has no effect."""
        from transformers import GenerationConfig

        vocabulary = int(self._model.config.get_text_config().vocab_size)
        for token, _ in params.logit_bias:
            if token >= vocabulary:
                raise ParameterError(
                    "logit_bias", f"logit_bias names token {token}: this model's ids are 0..{vocabulary - 1}"
                )
        ends = sorted(self._ends)
        warm: dict[str, Any] = {}
        if params.temperature > 0:
            warm = {
                "do_sample": True,
                "temperature": params.temperature,
                "top_k": params.top_k or 0,
                "top_p": params.top_p,
                "min_p": params.min_p or None,
            }
        return GenerationConfig(
            **(warm or {"do_sample": False}),
            max_new_tokens=max_new,
            min_new_tokens=min(params.min_tokens, max_new) or None,
            repetition_penalty=params.repetition_penalty,
            sequence_bias={(token,): float(nats) for token, nats in params.logit_bias} or None,
            max_time=params.deadline_seconds,
            eos_token_id=ends or None,
            pad_token_id=ends[0] if ends else 0,
            return_dict_in_generate=True,
            output_logits=True,
        )

    def _stopping(
        self, stream: TextStream, emit: Callable[[TextStream, str], None], cancelled: Callable[[], bool]
    ) -> Any:
        ends = self._ends

        def stopped(ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
            token = int(ids[0, -1])
            if token not in ends:
                emit(stream, stream.push(token))
            return torch.tensor([stream.stopped or cancelled()], device=ids.device)

        return stopped


def _finite(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """Raise ModelOutputError if the scores are not finite, as a logits processor."""
    check_finite(scores)
    return scores


def _finish(stopped: bool, full: bool, cancelled: bool) -> FinishReason:
    if stopped:
        return "stop"
    if full:
        return "length"
    return "cancelled" if cancelled else "deadline"


class _Begun:
    """See generation.live.LiveRequest. deadline_s: time limit of the entire request in seconds; None for no limit."""

    def __init__(self, deadline_s: float | None) -> None:
        self.cancelled = Event()
        self._deadline = None if deadline_s is None else monotonic() + deadline_s

    def cancel(self) -> None:
        """Stop the request at its next token."""
        self.cancelled.set()

    def left(self) -> float | None:
        """Return the seconds until the deadline, always above 0 to allow one token; None without a deadline."""
        return None if self._deadline is None else max(0.001, self._deadline - monotonic())


def _load(folder: Path, device: str, dtype: torch.dtype) -> Any:
    if not folder.is_dir():
        raise ModelError(f"{folder} is not a folder: give one with config.json, *.safetensors and tokenizer.json")
    # Checked here, because transformers detects incomplete or oversized checkpoints late or not at all.
    refuse_huge_numbers(read_checkpoint(folder).config, str(folder / CONFIG))
    from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        refuse_more_than_is_stored(lambda: AutoModelForCausalLM.from_config(config), folder, dtype, device)
        model = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, trust_remote_code=False, dtype=dtype
        )
    except ModelError:
        raise
    except Exception as error:  # any error: a missing file, an unknown architecture, code that must be trusted
        message = " ".join(str(error).split())[:500]
        raise ModelError(f"{folder} cannot be loaded by transformers: {message}") from error
    model.generation_config = GenerationConfig()
    return model.to(device).eval()
