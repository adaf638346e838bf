"""Generators with many tasks, streams and callers at once return the tokens of single requests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from generation.causal.generator import CausalGenerator
from generation.completion import Completion
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.generator import BatchGenerator, GenerationTask, generate_many
from generation.prompt import Prompt
from generation.reader.reader import EmbeddedReader
from retrieval.chunking.chunks import RetrievedChunk

MakeChunk = Callable[..., RetrievedChunk]
LIGHT = "The lighthouse at Skerry was built in 1871. Ada Thorne drew it."
WARM = SamplingParams(temperature=1.0, max_tokens=10, top_logprobs=1)


@pytest.fixture(scope="module")
def causal(llama: Callable[..., Path]) -> CausalGenerator:
    return CausalGenerator(llama(positions=512))


def tasks(generator: CausalGenerator | EmbeddedReader, chunk: MakeChunk) -> list[GenerationTask]:
    questions = ("Who drew it?", "When was it built?", "Who drew it?")
    return [
        GenerationTask(generator.prompt(question, [chunk(LIGHT, "Skerry")], 10), WARM, (3 * n, 3 * n + 1))
        for n, question in enumerate(questions)
    ]


def test_many_tasks_at_once_are_each_task_alone(
    causal: CausalGenerator, reader: EmbeddedReader, chunk: MakeChunk
) -> None:
    for generator in (causal, reader):
        work = tasks(generator, chunk)
        assert isinstance(generator, BatchGenerator)
        together = generate_many(generator, work)
        assert together == tuple(generator.generate(t.prompt, t.params, t.seeds) for t in work)
        for completions in together:
            for completion in completions:
                assert len(completion.top_logprobs) == len(completion.token_ids)
                assert all(len(top) == 1 for top in completion.top_logprobs)


def test_a_generator_without_batches_works_through_them(reader: EmbeddedReader, chunk: MakeChunk) -> None:
    class OneByOne:
        """A generator with only the methods of the protocol."""

        name, fingerprint, context_length, prompt = reader.name, reader.fingerprint, 512, reader.prompt

        def generate(self, prompt: Prompt, params: SamplingParams, seeds: tuple[int, ...]) -> tuple[Completion, ...]:
            return reader.generate(prompt, params, seeds)

    work = tasks(reader, chunk)
    assert not isinstance(OneByOne(), BatchGenerator)
    assert generate_many(OneByOne(), work) == generate_many(reader, work)


def test_streamed_pieces_joined_are_the_text(causal: CausalGenerator, chunk: MakeChunk) -> None:
    prompt = causal.prompt("Who drew it?", [chunk(LIGHT, "Skerry")], 10)
    full = causal.generate(prompt, WARM, (0, 1, 2, 3))
    for stop in ((), (full[1].text[2:4],)):
        params = SamplingParams(temperature=1.0, max_tokens=10, stop=stop)
        pieces = ["", "", "", ""]
        for delta in causal.stream(prompt, params, (0, 1, 2, 3)):
            assert delta.text
            pieces[delta.sample] += delta.text
        assert pieces == [c.text for c in causal.generate(prompt, params, (0, 1, 2, 3))]


@pytest.mark.parametrize("threads", [1, 2])
def test_after_a_cancelled_stream_a_sample_is_the_same_alone(
    causal: CausalGenerator, chunk: MakeChunk, threads: int
) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        prompt = causal.prompt("Who drew it?", [chunk(LIGHT, "Skerry")], 10)
        full = causal.generate(prompt, WARM, (0, 1, 2, 3))[0]
        begun = causal.stream(prompt, WARM, (0, 1))
        next(begun)
        begun.close()  # type: ignore[attr-defined]
        again = causal.generate(prompt, WARM, (0,))[0]
    finally:
        torch.set_num_threads(before)
    assert again == full


def test_several_callers_get_what_each_would_alone(causal: CausalGenerator, chunk: MakeChunk) -> None:
    work = tasks(causal, chunk)
    expected = [causal.generate(t.prompt, t.params, t.seeds) for t in work]
    found: dict[int, tuple[Completion, ...]] = {}

    def call(number: int) -> None:
        task = work[number % 3]
        found[number] = causal.generate(task.prompt, task.params, task.seeds)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: expected[number % 3] for number in range(6)}


def test_a_prompt_that_cannot_be_served_is_an_error_for_its_caller(causal: CausalGenerator) -> None:
    long = Prompt("?", (), (), (1,) * 513)
    with pytest.raises(GenerationError, match=r"513.*512"):
        causal.generate(long, WARM, (0,))
    with pytest.raises(GenerationError, match="no tokens"):
        next(causal.stream(Prompt("?", (), (), ()), WARM, (0,)))
