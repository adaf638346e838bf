"""Parse server-sent events (WHATWG HTML, 9.2.6) from text in arbitrary pieces."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from generation.errors import UnavailableError

_LONGEST_EVENT = 4 << 20  # characters, thousands of times the size of a piece of an answer


def event_texts(pieces: Iterator[bytes]) -> Iterator[str]:
    """Decode UTF-8, which the standard requires regardless of the header, so that a server cannot choose the codec."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for piece in pieces:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)


def event_data(texts: Iterator[str]) -> Iterator[str]:
    """Yield the data of each event, without comments, names and IDs, in time linear in the length of the text.

    Raises UnavailableError if an event or a line is too long.
    """
    data = list[str]()
    size = 0
    for line in _lines(texts):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
            size += len(line)
            _check_length(size)
        elif not line and data:
            yield "\n".join(data)
            data.clear()
            size = 0
    if data:  # some servers end without the empty line
        yield "\n".join(data)


def _lines(texts: Iterator[str]) -> Iterator[str]:
    """Yield lines without line ends, including a non-empty last one."""
    open_line = list[str]()  # pieces of the unfinished line, which are joined once
    size = 0
    for text in texts:
        first, *others = text.split("\n")
        open_line.append(first)
        size += len(first)
        _check_length(size)
        for other in others:
            yield "".join(open_line).removesuffix("\r")
            open_line, size = [other], len(other)
    if rest := "".join(open_line):
        yield rest.removesuffix("\r")


def _check_length(size: int) -> None:
    if size > _LONGEST_EVENT:
        raise UnavailableError(f"the server sent an event of more than {_LONGEST_EVENT >> 20} MiB, which is too long")
