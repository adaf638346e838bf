"""Server-sent events (WHATWG HTML, 9.2.6) from text that comes in any pieces."""

from __future__ import annotations

from collections.abc import Iterator


def event_data(texts: Iterator[str]) -> Iterator[str]:
    """The data of each event; comments, names and ids are passed over."""
    rest, data = "", list[str]()
    for text in texts:
        *lines, rest = (rest + text).split("\n")
        for line in lines:
            line = line.removesuffix("\r")
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif not line and data:
                yield "\n".join(data)
                data.clear()
    if rest.startswith("data:"):  # some servers end without the empty line
        data.append(rest[5:].removeprefix(" "))
    if data:
        yield "\n".join(data)
