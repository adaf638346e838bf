"""Restore case and accents of a copied answer from its sources, since MiniLM's tokens lack them.

The likeliest path through the possible source positions of the tokens is found. Contiguous spans are taken verbatim
from the prompt's text, and tokens that were not copied are written as in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generation.decoding.loop import CopySource, DecodedTokens
from generation.prompt import Prompt
from generation.surface.path import CopyPath
from model.checkpoints.tokenizer import Tokenizer

_MIN_SHARE = 0.05  # a token with a smaller copied share is written from the vocabulary
_NO_SPACE_BEFORE = frozenset(".,;:!?%)]}'’”")
_NO_SPACE_AFTER = frozenset("([{$£€“")


@dataclass(frozen=True, slots=True)
class CopiedSpan:
    """Adjacent answer tokens with one source.

    first, last: positions of the first and the last token. part: part of the prompt as in Prompt.sources; None if the
    token was not copied. start, end: offsets of the copied text in that part, in characters. share: sum of the copied
    shares of the tokens' probabilities.
    """

    first: int
    last: int
    part: int | None
    start: int
    end: int
    share: float


@dataclass(frozen=True, slots=True)
class Surface:
    """The text of an answer and the spans that it consists of."""

    text: str
    spans: tuple[CopiedSpan, ...]


def restore(decoded: DecodedTokens, prompt: Prompt, tokenizer: Tokenizer) -> Surface:
    """Return the text of a decoded answer to ``prompt``, with case and accents of its sources."""
    return _written(decoded, _path(decoded.sources, prompt).best(), prompt, tokenizer)


class SurfaceStream:
    """An incremental ``restore``, which returns text as soon as no further token can change it."""

    def __init__(self, prompt: Prompt, tokenizer: Tokenizer) -> None:
        self._prompt, self._tokenizer = prompt, tokenizer
        self._path = CopyPath()
        self._pushed = self._final_count = 0
        self._given = ""

    def push(self, decoded: DecodedTokens) -> str:
        """Return the text that became final; may be empty. decoded: all tokens so far."""
        for options in decoded.sources[self._pushed :]:
            self._path.push(_copy_sources(options, self._prompt))
        self._pushed = len(decoded.sources)
        final_count = self._path.final_count()
        if final_count == self._final_count:
            return ""
        self._final_count = final_count
        text = _written(decoded, self._path.best()[:final_count], self._prompt, self._tokenizer).text
        new, self._given = text[len(self._given) :], text
        return new


def _written(
    decoded: DecodedTokens, path: Sequence[CopySource | None], prompt: Prompt, tokenizer: Tokenizer
) -> Surface:
    """Return the text of the first ``len(path)`` tokens. path: source of each token; None if it was not copied."""
    spans = _merge_spans(path, prompt)
    texts = {part.number: part.text for part in prompt.chunks}
    texts.update({-part.number: part.retrieved.chunk.title for part in prompt.chunks})
    texts[0] = prompt.question
    text, previous = "", -2
    for span in spans:
        if span.part is not None:
            piece, glued = texts[span.part][span.start : span.end], False
            glued = tokenizer.token(decoded.token_ids[span.first]).startswith("##") and previous == span.first - 1
        else:
            token = tokenizer.token(decoded.token_ids[span.first])
            if len(token) > 2 and token[0] == "[" and token[-1] == "]":
                continue  # a special token such as [UNK], which has no text
            glued = token.startswith("##")
            piece = token.removeprefix("##")
        if text and not glued and piece[:1] not in _NO_SPACE_BEFORE and text[-1] not in _NO_SPACE_AFTER:
            text += " "
        text += piece
        previous = span.last
    return Surface(" ".join(text.split()), spans)


def _path(sources: Sequence[Sequence[CopySource]], prompt: Prompt) -> CopyPath:
    path = CopyPath()
    for options in sources:
        path.push(_copy_sources(options, prompt))
    return path


def _copy_sources(options: Sequence[CopySource], prompt: Prompt) -> Sequence[CopySource]:
    """Return the possible sources of a token; empty if less than _MIN_SHARE of its probability was copied."""
    if sum(s.share for s in options) < _MIN_SHARE:
        return ()
    return [s for s in options if prompt.sources[s.position] is not None]


def _merge_spans(path: Sequence[CopySource | None], prompt: Prompt) -> tuple[CopiedSpan, ...]:
    out: list[CopiedSpan] = []
    previous: CopySource | None = None
    for index, copied in enumerate(path):
        source = None if copied is None else prompt.sources[copied.position]
        if copied is None or source is None:
            out.append(CopiedSpan(index, index, None, 0, 0, 0.0))
        else:
            part, start, end = source
            last = out[-1] if out else None
            continues = previous is not None and copied.position == previous.position + 1
            if continues and last is not None and last.part == part:
                out[-1] = CopiedSpan(last.first, index, part, last.start, end, last.share + copied.share)
            else:
                out.append(CopiedSpan(index, index, part, start, end, copied.share))
        previous = copied
    return tuple(out)
