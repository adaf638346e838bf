"""Completions drawn while somebody listens to their text, where the generator can be listened to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import SimpleQueue

from generation.completion import Completion, TextDelta
from generation.decoding.params import SamplingParams
from generation.generator import GenerationTask, Generator
from generation.live import FinishedRequest, LiveGenerator
from generation.prompt import Prompt

OnText = Callable[[TextDelta], None]
"""Told of text as it is drawn, in the caller's thread. A sample's pieces, joined, are its completion's text."""


def drawn_aloud(
    generator: Generator, prompt: Prompt, params: SamplingParams, seeds: Sequence[int], on_text: OnText | None
) -> tuple[Completion, ...]:
    """The samples of one prompt. on_text: None, or a generator that cannot be listened to, draws them in silence.

    Interrupted, the request is cancelled. Raises what the generator raises.
    """
    if on_text is None or not isinstance(generator, LiveGenerator):
        return tuple(generator.generate(prompt, params, seeds))
    events: SimpleQueue[TextDelta | FinishedRequest | Exception] = SimpleQueue()
    begun = generator.begin(GenerationTask(prompt, params, tuple(seeds)), events.put)
    try:
        while True:
            event = events.get()
            if isinstance(event, FinishedRequest):
                return event.completions
            if isinstance(event, Exception):
                raise event
            on_text(event)
    except BaseException:
        begun.cancel()
        raise
