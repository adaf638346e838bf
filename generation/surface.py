"""The written form of a copied answer: MiniLM's tokens have no capitals or accents, the place they came from has.

Given each token's possible places in the prompt, the likeliest path through them is found; stretches that run on in the
prompt are taken from its text as they stand, and what was not copied is written as the vocabulary has it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from generation.decoding import CopySource, DecodedTokens
from generation.prompt import Prompt
from model.tokenizer import Tokenizer

_MIN_SHARE = 0.05  # a token of which less was copied is the vocabulary's
_RUN_ON = 3.0  # nats for going on at the next prompt position: one long stretch beats many likelier single places
_NO_SPACE_BEFORE = frozenset(".,;:!?%)]}'’”")
_NO_SPACE_AFTER = frozenset("([{$£€“")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Answer tokens [first, last] copied from a part of the prompt at characters [start, end), or written (part None).

    part: as in Prompt.sources. share: the summed share of probability that was copied.
    """

    first: int
    last: int
    part: int | None
    start: int
    end: int
    share: float


@dataclass(frozen=True, slots=True)
class Surface:
    """The answer's text and the stretches it was made of."""

    text: str
    stretches: tuple[Stretch, ...]


def restore(decoded: DecodedTokens, prompt: Prompt, tokenizer: Tokenizer) -> Surface:
    """The text of a decoded answer to ``prompt``, in the written form of the places it was copied from."""
    path = _best_path(decoded.sources, prompt)
    stretches = _stretches(path, prompt)
    texts = {part.number: part.text for part in prompt.chunks}
    texts.update({-part.number: part.retrieved.chunk.title for part in prompt.chunks})
    texts[0] = prompt.question
    text, previous = "", -2
    for stretch in stretches:
        if stretch.part is not None:
            piece, glued = texts[stretch.part][stretch.start : stretch.end], False
            glued = tokenizer.token(decoded.token_ids[stretch.first]).startswith("##") and previous == stretch.first - 1
        else:
            token = tokenizer.token(decoded.token_ids[stretch.first])
            if len(token) > 2 and token[0] == "[" and token[-1] == "]":
                continue  # [unused7], [UNK]: no text's token, not to be written
            glued = token.startswith("##")
            piece = token.removeprefix("##")
        if text and not glued and piece[:1] not in _NO_SPACE_BEFORE and text[-1] not in _NO_SPACE_AFTER:
            text += " "
        text += piece
        previous = stretch.last
    return Surface(" ".join(text.split()), stretches)


def _best_path(sources: Sequence[Sequence[CopySource]], prompt: Prompt) -> list[CopySource | None]:
    """For each token its place, by the path with the highest sum of log shares and run-on bonuses (Viterbi)."""
    places = [
        [s for s in options if prompt.sources[s.position] is not None]
        if sum(s.share for s in options) >= _MIN_SHARE
        else []
        for options in sources
    ]
    scores: list[list[float]] = []
    backs: list[list[int]] = []
    for index, options in enumerate(places):
        row, back = [], []
        for option in options:
            best, origin = (max(scores[-1]), scores[-1].index(max(scores[-1]))) if index and scores[-1] else (0.0, -1)
            if index:
                for j, before in enumerate(places[index - 1]):
                    if before.position + 1 == option.position and scores[-1][j] + _RUN_ON > best:
                        best, origin = scores[-1][j] + _RUN_ON, j
            row.append(best + math.log(option.share + 1e-6))
            back.append(origin)
        scores.append(row)
        backs.append(back)
    path: list[CopySource | None] = [None] * len(places)
    choice = -1
    for index in range(len(places) - 1, -1, -1):
        if not places[index]:
            choice = -1
            continue
        if choice < 0:
            choice = scores[index].index(max(scores[index]))
        path[index] = places[index][choice]
        choice = backs[index][choice]
    return path


def _stretches(path: Sequence[CopySource | None], prompt: Prompt) -> tuple[Stretch, ...]:
    out: list[Stretch] = []
    previous: CopySource | None = None
    for index, place in enumerate(path):
        source = None if place is None else prompt.sources[place.position]
        if place is None or source is None:
            out.append(Stretch(index, index, None, 0, 0, 0.0))
        else:
            part, start, end = source
            last = out[-1] if out else None
            runs_on = previous is not None and place.position == previous.position + 1
            if runs_on and last is not None and last.part == part:
                out[-1] = Stretch(last.first, index, part, last.start, end, last.share + place.share)
            else:
                out.append(Stretch(index, index, part, start, end, place.share))
        previous = place
    return tuple(out)
