"""Streamed reasoning of a local model is the completion's thought and never its text."""

from __future__ import annotations

import json
import queue
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generation.causal.generator import CausalGenerator
from generation.causal.transformers_generator import TransformersGenerator
from generation.completion import TextDelta, ThoughtDelta
from generation.decoding.params import SamplingParams
from generation.decoding.streaming import TextFilter
from generation.generator import GenerationTask
from generation.live import FinishedRequest, LiveEvent
from tests.generation.conftest import CHATML


@pytest.fixture(scope="module")
def folder(llama: Callable[..., Path]) -> Path:
    """Return a checkpoint whose template opens reasoning in the prompt, like that of DeepSeek R1."""
    found = llama(chat=True, positions=512)
    file = found / "tokenizer_config.json"
    fields = json.loads(file.read_text())
    file.write_text(json.dumps(fields | {"chat_template": CHATML.replace("<think></think>", "<think>")}))
    return found


@pytest.mark.parametrize("kind", [CausalGenerator, TransformersGenerator])
def test_pieces_of_reasoning_and_text(folder: Path, kind: Callable[[Path], Any]) -> None:
    generator = kind(folder)
    close = json.loads((folder / "tokenizer.json").read_text())["added_tokens"][-1]
    assert close["content"] == "</think>"
    params = SamplingParams(temperature=1.0, max_tokens=16, logit_bias=((close["id"], 6.0),))
    prompt = generator.prompt("Who drew the lighthouse?", [], 16)
    seeds = tuple(range(6))
    heard: queue.SimpleQueue[LiveEvent] = queue.SimpleQueue()
    generator.begin(GenerationTask(prompt, params, seeds), heard.put)
    thoughts, texts = [""] * len(seeds), [""] * len(seeds)
    while not isinstance(event := heard.get(timeout=120), FinishedRequest):
        if isinstance(event, Exception):
            raise event
        assert event.text
        if isinstance(event, ThoughtDelta):
            thoughts[event.sample] += event.text
        else:
            assert isinstance(event, TextDelta)
            texts[event.sample] += event.text
    assert [c.thought for c in event.completions] == thoughts
    assert [c.text for c in event.completions] == texts
    assert any(thought and text for thought, text in zip(thoughts, texts, strict=True))
    assert not any("think>" in text for text in thoughts)


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_taken_pieces_joined_are_the_thought(size: int) -> None:
    text = "<think>\n One. \n</think> Yes. <think> Two, </think> No. <think>open </thi"
    found, taken, given = TextFilter(strip=True), "", ""
    for start in range(0, len(text), size):
        given += found.feed(text[start : start + size])
        taken += found.take_thought()
    given += found.finish()
    taken += found.take_thought()
    assert (taken, given) == (found.thought, found.text)
    assert taken == "One. \n Two, open </thi"
    assert found.take_thought() == ""
