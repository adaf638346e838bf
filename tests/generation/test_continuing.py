"""Answers with a given beginning: the prompt ends with it, and the model continues."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from generation.causal.continuing import ContinuingGenerator, continued_prompt
from generation.causal.generator import CausalGenerator
from generation.causal.transformers_generator import TransformersGenerator
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.reader.reader import EmbeddedReader
from model.checkpoints.tokenizer import Tokenizer
from retrieval.chunking.chunks import RetrievedChunk

LIGHT = "The lighthouse at Skerry was built in 1871. Ada Thorne drew it. It stands 34 metres above the sea."
WORDS = "The answer is Ada Thorne."
GREEDY = SamplingParams(temperature=0.0, max_tokens=8)


@pytest.mark.parametrize("template", [False, True])
def test_the_prompt_ends_in_the_words_and_greedy_goes_on_alike_in_both_generators(
    llama: Callable[..., Path], chunk: Callable[..., RetrievedChunk], template: bool
) -> None:
    folder = llama(chat=template, positions=700)
    tokenizer = Tokenizer(folder / "tokenizer.json")
    ours, theirs = CausalGenerator(folder), TransformersGenerator(folder)
    shown = [chunk(LIGHT, "Skerry")]
    plain = ours.prompt("Who drew it?", shown, 8)
    begun = continued_prompt(ours, "Who drew it?", shown, 8, WORDS)
    assert begun.token_ids[: len(plain.token_ids)] == plain.token_ids
    tail = tokenizer.decode(begun.token_ids[len(plain.token_ids) :])
    assert tail == (WORDS if template else f" {WORDS}")
    assert begun == continued_prompt(theirs, "Who drew it?", shown, 8, WORDS)
    (one,), (two,) = (g.generate(begun, GREEDY, (1,)) for g in (ours, theirs))
    assert one.token_ids == two.token_ids and WORDS not in one.text
    assert continued_prompt(ours, "Who drew it?", shown, 8, "") == plain


def test_the_words_are_never_cut_and_chunks_make_room(
    llama: Callable[..., Path], chunk: Callable[..., RetrievedChunk]
) -> None:
    generator = CausalGenerator(llama(positions=512))
    many = [chunk(LIGHT * 3, "Skerry", rank) for rank in range(1, 9)]
    begun = continued_prompt(generator, "Who drew it?", many, 20, WORDS * 5)
    assert len(begun.token_ids) + 20 <= generator.context_length
    plain = generator.prompt("Who drew it?", many, 20)
    shown, begun_shown = (sum(c.end - c.start for c in p.chunks) for p in (plain, begun))
    assert 0 < shown - begun_shown < 2 * len(WORDS * 5)  # as many tokens as the words need
    with pytest.raises(GenerationError, match="512"):
        continued_prompt(generator, "Who drew it?", (), 20, WORDS * 200)


def test_a_generator_that_cannot_says_so(reader: EmbeddedReader) -> None:
    assert not isinstance(reader, ContinuingGenerator)
    with pytest.raises(GenerationError, match="beginning"):
        continued_prompt(reader, "Who drew it?", (), 8, WORDS)
    assert continued_prompt(reader, "Who drew it?", (), 8, "") == reader.prompt("Who drew it?", (), 8)
