"""Convert token IDs to text incrementally, without partial characters and stop strings.

Streaming and non-streaming generators both use this module, so that the text does not depend on the mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generation.decoding.thoughts import ThoughtFilter

Decode = Callable[[Sequence[int]], str]
"""Function that returns the text of token IDs. Only the end of the text may change when a token is added."""

_WINDOW = 8
"""Number of trailing tokens that are decoded with every new one. At least 4, since a character may have four bytes."""
_INCOMPLETE = 3
"""Maximum number of trailing replacement characters that may still become one character.

Byte-fallback decoders return one replacement character for each byte.
"""
_UNKNOWN = "\ufffd"


class TextFilter:
    """A filter of incremental text that removes reasoning, and everything from the first stop string on.

    stops: strings that end the text. The one that is complete first counts, and the longest one among equals. Text that
    may be the beginning of a stop string is held back. strip: whether to remove surrounding white space. ``text`` is
    always the text that ``feed`` and ``finish`` have returned so far.
    """

    def __init__(self, stops: Sequence[str] = (), *, strip: bool = False, thinking: bool = False) -> None:
        """thinking: whether the text starts within reasoning."""
        self._filter = _StopFilter(stops)
        self._thoughts = ThoughtFilter(begun=thinking)
        self._stripper = _Stripper() if strip else None
        self._thought_stripper = _Stripper()
        self._given: list[str] = []

    @property
    def text(self) -> str:
        """The text returned so far."""
        return "".join(self._given)

    @property
    def thought(self) -> str:
        """The reasoning of a reasoning model. It is not part of ``text``."""
        return self._thoughts.thought

    @property
    def stopped(self) -> bool:
        """Whether a stop string was found. Later text is ignored."""
        return self._filter.stopped

    def add_thought(self, text: str) -> None:
        """Add reasoning that arrived separately from the text, as servers send it."""
        if not self.stopped:
            self._thoughts.add_thought(text)

    def take_thought(self) -> str:
        """Return the reasoning that became final since the previous call. The joined pieces are ``thought``."""
        return self._thought_stripper.feed(self._thoughts.take_thought())

    def feed(self, piece: str) -> str:
        """Return the text that became final with this piece; may be empty."""
        if self.stopped:
            return ""
        text = self._thoughts.feed(self._filter.feed(piece))
        return self._give(text + self._thoughts.finish() if self.stopped else text)

    def finish(self) -> str:
        """Return the text that was held back, at the end of the input."""
        if self.stopped:
            return ""
        return self._give(self._thoughts.feed(self._filter.finish()) + self._thoughts.finish())

    def _give(self, text: str) -> str:
        if self._stripper is not None:
            text = self._stripper.feed(text)
        if text:
            self._given.append(text)
        return text


class TextStream:
    """The text of one completion, which receives one token at a time. stops, strip, thinking: see TextFilter."""

    def __init__(
        self, decode: Decode, stops: Sequence[str] = (), *, strip: bool = False, thinking: bool = False
    ) -> None:
        self._decoder = _IncrementalDecoder(decode)
        self._filter = TextFilter(stops, strip=strip, thinking=thinking)

    @property
    def text(self) -> str:
        """The text that ``push`` and ``finish`` have returned so far."""
        return self._filter.text

    @property
    def thought(self) -> str:
        """The reasoning of a reasoning model. It is not part of ``text``."""
        return self._filter.thought

    def take_thought(self) -> str:
        """See TextFilter.take_thought."""
        return self._filter.take_thought()

    @property
    def stopped(self) -> bool:
        """Whether a stop string was found. Later tokens are ignored."""
        return self._filter.stopped

    def push(self, token_id: int) -> str:
        """Return the text that became final with this token; may be empty."""
        return "" if self.stopped else self._filter.feed(self._decoder.push(token_id))

    def finish(self) -> str:
        """Return the text that was held back. Called after the last token, whatever the reason for the end."""
        return "" if self.stopped else self._filter.feed(self._decoder.finish()) + self._filter.finish()


def cut_at_stop(text: str, stops: Sequence[str]) -> int | None:
    """Return the offset at which TextStream would end this text; None if it contains no stop string."""
    stop_filter = _StopFilter(stops)
    kept = stop_filter.feed(text)
    return len(kept) if stop_filter.stopped else None


class _IncrementalDecoder:
    """An incremental decoder that takes constant time for each token, like those of vLLM and TGI.

    It decodes a short window of the last tokens with each new one. The window includes tokens whose text was already
    returned, since a token's text depends on whether it is the first one (WordPiece and SentencePiece write no space
    before it). A window that starts within a character gives the same replacement characters every time; they are never
    returned.
    """

    def __init__(self, decode: Decode) -> None:
        self._decode = decode
        self._ids: list[int] = []
        self._text = ""  # of the window
        self._sent = ""  # the part of it that was returned
        self._clean = 0  # tokens of the window whose text was returned completely

    def push(self, token_id: int) -> str:
        self._ids.append(token_id)
        text = self._decode(self._ids)
        if text == self._text and self._clean == len(self._ids) - 1 and not self._decode([token_id, token_id]):
            # A special or unknown token, which has no text. It is decoded twice, since a single blank token may have no
            # text either.
            self._ids.pop()
            return ""
        if not text.startswith(self._sent):
            text = self._begin_again(text)
        self._text = text
        certain = max(len(self._sent), len(text) - _unfinished(text))
        new, self._sent = text[len(self._sent) : certain], text[:certain]
        if certain == len(text):
            self._clean = len(self._ids)
        if len(self._ids) >= 2 * _WINDOW:
            self._slide()
        return new

    def finish(self) -> str:
        new, self._sent = self._text[len(self._sent) :], self._text
        return new

    def _begin_again(self, text: str) -> str:
        """Decode only the tokens that were not returned yet, after they changed text that was already returned.

        In byte-fallback decoders an invalid byte turns preceding characters that are encoded as bytes into replacement
        characters. The returned characters were correct, so they are kept.
        """
        if not self._clean:
            self._sent = text[: len(self._sent)]
            return text
        del self._ids[: self._clean]
        self._clean, self._sent = 0, ""
        return self._decode(self._ids)

    def _slide(self) -> None:
        """Drop the oldest tokens of the window, if possible at a character boundary."""
        waiting = len(self._text) - len(self._sent)
        starts = [len(self._ids) - _WINDOW - more for more in range(4)]
        texts = [(self._decode(self._ids[start:]), start) for start in starts]
        text, start = min(texts, key=lambda candidate: candidate[0].count(_UNKNOWN))
        if len(text) <= waiting or not text.endswith(self._text[len(self._sent) :]):
            return  # the window must contain returned text: the next token would be decoded as the first one
        del self._ids[:start]
        self._clean = max(0, self._clean - start)
        self._text, self._sent = text, text[: len(text) - waiting]


def _unfinished(text: str) -> int:
    """Return the number of characters at the end that may still change."""
    if not text.endswith(_UNKNOWN):
        return 0
    return min(_INCOMPLETE, len(text) - len(text.rstrip(_UNKNOWN)))


class _StopFilter:
    """A filter that ends the text at a stop string. Text that may be the beginning of one is held back.

    Each stop string has a Knuth-Morris-Pratt automaton, so a character takes amortised constant time.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self.stopped = False
        self._stops = [(stop, _failures(stop)) for stop in stops]
        self._matched = [0] * len(stops)  # characters of each that the end of the text matches
        self._waiting = ""

    def feed(self, text: str) -> str:
        """Return the text that became final; nothing from the stop string on."""
        if not self._stops:
            return text
        buffer = self._waiting + text
        for index in range(len(self._waiting), len(buffer)):
            complete = self._advance(buffer[index])
            if complete:
                self.stopped, self._waiting = True, ""
                return buffer[: index + 1 - complete]
        longest = max(self._matched)
        self._waiting = buffer[len(buffer) - longest :]
        return buffer[: len(buffer) - longest]

    def finish(self) -> str:
        """Return the text that was held back, at the end of the input."""
        waiting, self._waiting = self._waiting, ""
        return waiting

    def _advance(self, character: str) -> int:
        """Return the length of the longest stop string that this character completes; 0 for none."""
        complete = 0
        for number, (stop, failures) in enumerate(self._stops):
            matched = self._matched[number]
            while matched and stop[matched] != character:
                matched = failures[matched - 1]
            matched += stop[matched] == character
            if matched == len(stop):
                complete, matched = max(complete, matched), 0
            self._matched[number] = matched
        return complete


def _failures(stop: str) -> list[int]:
    """Return, for each prefix of the string, the length of its longest proper prefix that is also a suffix."""
    table = [0]
    for character in stop[1:]:
        matched = table[-1]
        while matched and stop[matched] != character:
            matched = table[matched - 1]
        table.append(matched + (stop[matched] == character))
    return table


class _Stripper:
    """``str.strip`` of incremental text."""

    def __init__(self) -> None:
        self._begun = False
        self._blanks: list[str] = []

    def feed(self, text: str) -> str:
        if not self._begun:
            text = text.lstrip()
            self._begun = bool(text)
        kept = text.rstrip()
        if not kept:
            if text:
                self._blanks.append(text)
            return ""
        out = "".join((*self._blanks, kept))
        self._blanks = [text[len(kept) :]]
        return out
