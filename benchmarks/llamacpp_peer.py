"""llama.cpp through llama-cpp-python's bindings of its C interface, with samples that share one prompt."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any


@dataclass(frozen=True, slots=True)
class Seconds:
    """Durations of one run, in wall-clock and processor time.

    read: time until every sample has its first token. write: time of the following tokens. With one thread the
    processor time depends little on other load; with more threads it includes their waiting for each other. quickest:
    wall-clock time of the fastest step, which no other process interrupted.
    """

    read: float
    write: float
    read_cpu: float
    write_cpu: float
    quickest: float


class Watch:
    """A stopwatch for one run, which starts when it is created."""

    def __init__(self) -> None:
        self._begun = self._read = (perf_counter(), process_time())
        self._last, self._quickest = self._begun[0], float("inf")

    def read(self) -> None:
        """Record that every sample has its first token."""
        self._read = (perf_counter(), process_time())
        self._last = self._read[0]

    def step(self) -> None:
        """Record that every sample has another token."""
        now = perf_counter()
        self._last, self._quickest = now, min(self._quickest, now - self._last)

    def written(self) -> Seconds:
        """Return the durations. Call it when every sample is finished."""
        clock, cpu = perf_counter(), process_time()
        reading = self._read[0] - self._begun[0], self._read[1] - self._begun[1]
        return Seconds(reading[0], clock - self._read[0], reading[1], cpu - self._read[1], self._quickest)


class LlamaCpp:
    """A model and a context for up to ``samples`` sequences, which share the cache cells of a common prompt."""

    def __init__(self, file: Path, *, context: int, threads: int, samples: int) -> None:
        import llama_cpp

        self._api: Any = llama_cpp
        llama_cpp.llama_backend_init()
        self._quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(self._quiet, ctypes.c_void_p(0))
        self._model = llama_cpp.llama_model_load_from_file(str(file).encode(), llama_cpp.llama_model_default_params())
        if not self._model:
            raise RuntimeError(f"llama.cpp does not load {file}")
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = context, 2048, 512
        params.n_seq_max, params.kv_unified = samples, True
        params.n_threads = params.n_threads_batch = threads
        self._context = llama_cpp.llama_init_from_model(self._model, params)
        if not self._context:
            raise RuntimeError(f"llama.cpp makes no context of {context} tokens for {samples} sequences")
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = llama_cpp.llama_batch_init(2048, 0, 1)

    @property
    def version(self) -> str:
        """The version of llama-cpp-python."""
        return str(self._api.__version__)

    def run(self, prompt: Sequence[int], new: int, seeds: Sequence[int], temperature: float) -> Seconds:
        """Process the prompt once and generate ``new`` tokens per sample.

        End tokens are ignored, so that every run does the same work.
        """
        api = self._api
        samplers = [self._sampler(seed, temperature) for seed in seeds]
        api.llama_memory_clear(self._memory, True)
        watch = Watch()
        self._decode([(token, position, 0, position + 1 == len(prompt)) for position, token in enumerate(prompt)])
        for sample in range(1, len(seeds)):
            api.llama_memory_seq_cp(self._memory, 0, sample, 0, -1)
        last = len(prompt) - 1
        tokens = [api.llama_sampler_sample(sampler, self._context, last) for sampler in samplers]
        watch.read()
        for step in range(new - 1):
            self._decode([(token, len(prompt) + step, row, True) for row, token in enumerate(tokens)])
            tokens = [api.llama_sampler_sample(sampler, self._context, row) for row, sampler in enumerate(samplers)]
            watch.step()
        durations = watch.written()
        for sampler in samplers:
            api.llama_sampler_free(sampler)
        return durations

    def _sampler(self, seed: int, temperature: float) -> Any:
        api = self._api
        chain = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
        if temperature:
            api.llama_sampler_chain_add(chain, api.llama_sampler_init_temp(temperature))
            api.llama_sampler_chain_add(chain, api.llama_sampler_init_dist(seed))
        else:
            api.llama_sampler_chain_add(chain, api.llama_sampler_init_greedy())
        return chain

    def _decode(self, rows: Sequence[tuple[int, int, int, bool]]) -> None:
        """Decode rows of token, position, sequence, and whether to compute logits."""
        batch = self._batch
        batch.n_tokens = len(rows)
        for i, (token, position, sequence, needs_logits) in enumerate(rows):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, position, 1, needs_logits
            batch.seq_id[i][0] = sequence
        if code := self._api.llama_decode(self._context, batch):
            raise RuntimeError(f"llama_decode returned {code}")
