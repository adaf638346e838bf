"""The embedded reader end to end, with untrained weights, so that its answers are arbitrary."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.reader.reader import EmbeddedReader, _first_stop
from retrieval.chunking.chunks import RetrievedChunk

MakeChunk = Callable[..., RetrievedChunk]
LIGHT = "The Skerry light was built in 1871. Ada Thorne drew it, 34 m high."


def test_samples_are_reproducible_and_their_books_balance(reader: EmbeddedReader, chunk: MakeChunk) -> None:
    prompt = reader.prompt("Who drew the light?", [chunk(LIGHT, "Skerry"), chunk("Ole.")], 12)
    params = SamplingParams(temperature=1.0, max_tokens=12)
    seeds = (*range(31), 2**63 - 1)
    samples = reader.generate(prompt, params, seeds)
    assert [s.seed for s in samples] == list(seeds)
    assert len({s.token_ids for s in samples}) > 8
    for sample in samples:
        assert len(sample.token_ids) == len(sample.token_logprobs) == sample.usage.completion_tokens <= 12
        assert sample.usage.prompt_tokens == len(prompt.token_ids)
        assert all(logprob <= 1e-6 for logprob in sample.token_logprobs)
        for citation in sample.citations:
            assert sample.text[citation.start : citation.end] == f"[{citation.number}]"
            assert citation.number <= 2
        assert "[unused" not in sample.text
    assert any(s.citations for s in samples)
    assert reader.generate(prompt, params, seeds[3:4])[0].text == samples[3].text


@pytest.mark.drill
def test_a_stop_string_is_met_in_the_text_that_is_returned(reader: EmbeddedReader, chunk: MakeChunk) -> None:
    prompt = reader.prompt("Who drew the light?", [chunk(LIGHT)], 16)
    params = SamplingParams(temperature=0.8, max_tokens=16)
    free = reader.generate(prompt, params, tuple(range(16)))
    checked = 0
    for full in free:
        words = full.text.split()
        if len(words) < 4 or full.text.startswith("The documents"):
            continue
        stop = words[2].upper()
        (cut,) = reader.generate(prompt, SamplingParams(temperature=0.8, max_tokens=16, stop=(stop,)), (full.seed,))
        assert cut.finish_reason == "stop"
        assert stop.lower() not in cut.text.lower()
        assert full.text.startswith(cut.text)
        assert cut.citations == ()
        assert cut.token_ids == full.token_ids[: len(cut.token_ids)]
        checked += 1
    assert checked > 3


def test_a_stop_is_found_whatever_the_case_at_its_place() -> None:
    assert _first_stop("İİ end HERE", ("here", "END")) == 3  # str.lower makes this text two characters longer
    assert _first_stop("a.b", (".",)) == 1
    assert _first_stop("ab", (".", "*")) is None


def test_name_and_fingerprint(reader: EmbeddedReader) -> None:
    assert reader.name == "plumbline-reader"
    assert len(reader.fingerprint) == 64


@pytest.mark.parametrize("question", ["", " \n", "\x00", "\u200b\u2060"])
def test_a_question_of_nothing_that_can_be_seen_is_empty(reader: EmbeddedReader, question: str) -> None:
    with pytest.raises(GenerationError, match="empty"):
        reader.prompt(question, [], 5)


@pytest.mark.parametrize("question", ["Ω≈ç √∫ ˜µ≤", "日本語の質問", "\x00?", "🤖" * 30, "\ud83d broken"])
def test_odd_questions_are_answered(reader: EmbeddedReader, chunk: MakeChunk, question: str) -> None:
    prompt = reader.prompt(question, [chunk("ﬁ İ ß \u202e abc\u0301 🤖", "🤖"), chunk(" ")], 5)
    for sample in reader.generate(prompt, SamplingParams(temperature=1.0, max_tokens=5), (0, 1)):
        assert sample.finish_reason in ("stop", "length")
