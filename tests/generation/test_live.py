"""Live generators: the joined pieces are the text, for any sources that the reader copies from."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.causal.generator import CausalGenerator
from generation.completion import TextDelta
from generation.decoding.loop import CopySource
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.generator import GenerationTask
from generation.live import FinishedRequest, InstructedGenerator, LiveGenerator, NamesTokens
from generation.prompt import Prompt
from generation.reader.reader import EmbeddedReader
from generation.surface.path import CopyPath
from retrieval.chunking.chunks import RetrievedChunk

MakeChunk = Callable[..., RetrievedChunk]
LIGHT = "The lighthouse at Skerry was built in 1871. Ada Thorne drew it."


@pytest.fixture(scope="module")
def causal(llama: Callable[..., Path]) -> CausalGenerator:
    return CausalGenerator(llama(positions=512))


def listen(generator: LiveGenerator, task: GenerationTask) -> tuple[list[TextDelta], FinishedRequest]:
    heard: queue.SimpleQueue[TextDelta | FinishedRequest | Exception] = queue.SimpleQueue()
    generator.begin(task, heard.put)
    pieces: list[TextDelta] = []
    while True:
        item = heard.get(timeout=120)
        if isinstance(item, TextDelta):
            assert item.text
            pieces.append(item)
            continue
        if isinstance(item, Exception):
            raise item
        assert heard.empty()
        return pieces, item


@pytest.mark.parametrize(("temperature", "stop"), [(0.0, ()), (1.0, (" lighthouse", "e")), (4.0, ())])
def test_pieces_joined_are_the_text(
    causal: CausalGenerator, reader: EmbeddedReader, chunk: MakeChunk, temperature: float, stop: tuple[str, ...]
) -> None:
    params = SamplingParams(temperature=temperature, max_tokens=12, stop=stop, top_logprobs=2)
    for generator in (causal, reader):
        assert isinstance(generator, LiveGenerator)
        prompt = generator.prompt("Who drew the lighthouse?", [chunk(LIGHT, "Skerry"), chunk("A rock.", rank=2)], 12)
        pieces, drawn = listen(generator, GenerationTask(prompt, params, (1, 2, 3)))
        assert drawn.completions == generator.generate(prompt, params, (1, 2, 3))
        for sample, completion in enumerate(drawn.completions):
            assert "".join(p.text for p in pieces if p.sample == sample) == completion.text


def test_a_reader_says_words_before_it_has_ended(reader: EmbeddedReader, chunk: MakeChunk) -> None:
    prompt = reader.prompt("Who drew the lighthouse at Skerry?", [chunk(LIGHT, "Skerry")], 30)
    texts = [
        listen(reader, GenerationTask(prompt, SamplingParams(temperature=2.0, max_tokens=30), (seed,)))
        for seed in range(3)
    ]
    assert any(len(pieces) > 2 for pieces, _ in texts)


def test_a_prompt_that_was_read_before_is_shared(causal: CausalGenerator, chunk: MakeChunk) -> None:
    prompt = causal.prompt("Who drew it, and is the drawing kept?", [chunk(LIGHT)], 4)
    task = GenerationTask(prompt, SamplingParams(max_tokens=4), (1,))
    listen(causal, task)
    assert listen(causal, task)[1].shared_tokens == len(prompt.token_ids)
    load = causal.load()
    assert load.rows == 0
    assert load.free_positions > 0


def test_what_is_wrong_is_heard(causal: CausalGenerator) -> None:
    with pytest.raises(GenerationError, match="no tokens"):
        listen(causal, GenerationTask(Prompt("q", (), (), ()), SamplingParams(), (1,)))


def test_instructions_come_first_and_count(causal: CausalGenerator, reader: EmbeddedReader, chunk: MakeChunk) -> None:
    assert isinstance(causal, InstructedGenerator)
    assert not isinstance(reader, InstructedGenerator)
    plain = causal.prompt("Who drew it?", [chunk(LIGHT)], 20)
    instructed = causal.instructed_prompt("Who drew it?", [chunk(LIGHT)], 20, "Answer in one word.")
    assert len(instructed.token_ids) > len(plain.token_ids)
    assert instructed.instructions == "Answer in one word."
    assert causal.instructed_prompt("Who drew it?", [chunk(LIGHT)], 20, " ").token_ids == plain.token_ids
    with pytest.raises(GenerationError, match="tokens"):
        causal.instructed_prompt("Who drew it?", [], 20, "word " * 600)


def test_tokens_have_names(causal: CausalGenerator, reader: EmbeddedReader, chunk: MakeChunk) -> None:
    for generator in (causal, reader):
        assert isinstance(generator, NamesTokens)
    ids = causal.prompt("Who?", (), 4).token_ids
    assert "Who?" in "".join(causal.token_text(i) for i in ids)


def sources(rows: Sequence[Sequence[tuple[int, float]]]) -> list[list[CopySource]]:
    return [[CopySource(position, share) for position, share in dict(row).items()] for row in rows]


ROWS = st.lists(st.lists(st.tuples(st.integers(0, 5), st.floats(0.01, 1.0)), max_size=4), min_size=1, max_size=12)


@settings(max_examples=100, deadline=None)
@given(ROWS)
def test_what_is_settled_never_changes(rows: Sequence[Sequence[tuple[int, float]]]) -> None:
    path = CopyPath()
    settled: list[list[CopySource | None]] = []
    for options in sources(rows):
        path.push(options)
        settled.append(path.best()[: path.final_count()])
    full = path.best()
    for known in settled:
        assert known == full[: len(known)]
    assert [len(known) for known in settled] == sorted(len(known) for known in settled)
