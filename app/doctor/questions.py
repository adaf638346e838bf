"""The texts that the checks send. They ask for long answers, so that the token limit determines the length."""

from __future__ import annotations

from generation.decoding.params import SamplingParams

STORY = "Write a long story about a lighthouse keeper and a storm."
OTHER_STORIES = tuple(
    f"Write a long story about {what}."
    for what in ("a river", "two clocks", "a train", "the moon", "bees", "a library")
)
GREEDY = SamplingParams(max_tokens=32)
SAMPLED = SamplingParams(max_tokens=32, temperature=1.0)


def passages(count: int, salt: str) -> str:
    """Return ``count`` numbered sentences of about 12 tokens each, followed by a question.

    salt: text in the sentences that makes the prompt new to a cache.
    """
    sentences = (
        f"[{n}] The lighthouse {salt}-{n} was built of grey stone and is {n} metres tall." for n in range(count)
    )
    return " ".join((*sentences, "Which of them is the tallest?"))
