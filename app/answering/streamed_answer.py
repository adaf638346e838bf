"""Generate answers, and report their text while it is generated if the generator supports it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import SimpleQueue

from generation.completion import Completion, TextDelta
from generation.decoding.params import SamplingParams
from generation.generator import GenerationTask, Generator
from generation.live import FinishedRequest, LiveEvent, LiveGenerator
from generation.prompt import Prompt

OnText = Callable[[TextDelta], None]
"""Callback for text as it is generated, called in the caller's thread. The pieces of a sample form its full text."""


def generate_streamed(
    generator: Generator, prompt: Prompt, params: SamplingParams, seeds: Sequence[int], on_text: OnText | None
) -> tuple[Completion, ...]:
    """Return one completion per seed, and report their text while it is generated.

    on_text: called with each piece of text, except reasoning; None, or a generator without streaming: never.
    An interruption cancels the request. Raises the errors of the generator.
    """
    if on_text is None or not isinstance(generator, LiveGenerator):
        return tuple(generator.generate(prompt, params, seeds))
    events: SimpleQueue[LiveEvent] = SimpleQueue()
    request = generator.begin(GenerationTask(prompt, params, tuple(seeds)), events.put)
    try:
        while True:
            event = events.get()
            if isinstance(event, FinishedRequest):
                return event.completions
            if isinstance(event, Exception):
                raise event
            if isinstance(event, TextDelta):
                on_text(event)
    except BaseException:
        request.cancel()
        raise
