"""Parse large JSON bodies outside of the event loop, with a limit on the number of values.

A body of 16 MB can hold millions of empty objects. They take seconds to build and a hundred times the body's memory.
The values are therefore counted in the raw bytes first, outside of strings, so that long texts are unaffected.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import numpy as np

from app.service.http.errors import ApiError

LARGE_BYTES = 16_384
"""Minimum bytes of a body that is parsed in a thread. For smaller bodies the thread costs more than it saves."""
MOST_VALUES = 250_000
"""Maximum number of commas, colons and opening brackets outside of strings. 5,000 questions with all their fields have
about 150,000.
"""
MOST_FIELDS = 1024
"""Maximum number of fields of one object, since every unknown field creates an error."""
_BLOCK = 1 << 20
_MARKS = b",:[{"
_QUOTE, _BACKSLASH = ord('"'), ord("\\")


class LargeBodies:
    """A parser of large bodies. It parses one at a time, because Python's parser holds the GIL."""

    def __init__(self) -> None:
        self._one: anyio.CapacityLimiter | None = None

    async def parse(self, body: bytes, check: Callable[[Any], None]) -> Any:
        """Return the parsed body. check: called with it in the same thread, to validate it.

        Raises ApiError 400 for invalid JSON, 413 for too many values, 422 for an object with too many fields, and the
        errors of ``check``.
        """
        self._one = self._one or anyio.CapacityLimiter(1)

        def work() -> Any:
            parsed = _parsed(body)
            check(parsed)
            return parsed

        return await anyio.to_thread.run_sync(work, limiter=self._one)


def _parsed(body: bytes) -> Any:
    if sum(body.count(mark) for mark in _MARKS) > MOST_VALUES and count_marks(body) > MOST_VALUES:
        raise ApiError(
            413, f"the body holds more than {MOST_VALUES} JSON values: send fewer at a time", code="body_too_large"
        )
    try:
        parsed = json.loads(body)
    except RecursionError:
        raise ApiError(400, "the body is not JSON: it is nested too deeply", code="invalid_json") from None
    except json.JSONDecodeError as error:
        raise ApiError(400, f"the body is not JSON: {error.msg}", code="invalid_json") from None
    except ValueError as error:  # not UTF-8, or a number with thousands of digits
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else "a number has too many digits"
        raise ApiError(400, f"the body is not JSON: {reason}", code="invalid_json") from None
    _check_fields(parsed)
    return parsed


def _check_fields(value: Any) -> None:
    """Raise ApiError 422 for an object of more than MOST_FIELDS fields, at any depth."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if len(one) > MOST_FIELDS:
                raise ApiError(
                    422, f"an object has {len(one)} fields: the maximum is {MOST_FIELDS}", code="invalid_value"
                )
            waiting += [part for part in one.values() if isinstance(part, dict | list)]
        elif isinstance(one, list):
            waiting += [part for part in one if isinstance(part, dict | list)]


def count_marks(body: bytes) -> int:
    """Return the number of commas, colons and opening brackets outside of strings. For invalid JSON it is only an
    estimate.

    It works in blocks to bound the memory. numpy releases the GIL meanwhile.
    """
    total = 0
    inside = escaping = False
    for start in range(0, len(body), _BLOCK):
        block = np.frombuffer(body, np.uint8, min(_BLOCK, len(body) - start), start)
        quotes = block == _QUOTE
        escaping, escaped = _escaped(block, escaping)
        quotes[escaped] = False
        # Parity of the quotes so far: 8 bits are enough, since 256 is even.
        within = (np.cumsum(quotes, dtype=np.uint8) + np.uint8(inside)) & 1
        marks = np.isin(block, np.frombuffer(_MARKS, np.uint8))
        total += int(np.count_nonzero(marks & (within == 0)))
        inside = bool(within[-1])
    return total


def _escaped(block: np.ndarray[Any, np.dtype[np.uint8]], first: bool) -> tuple[bool, np.ndarray[Any, Any]]:
    """Return whether the block's end escapes the next byte, and the positions in the block that a backslash escapes.

    first: whether the previous block escapes the first byte of this one.
    """
    places = np.flatnonzero(block == _BACKSLASH)
    if first:
        places = places[places > 0]  # an escaped backslash escapes nothing
    if not len(places):
        return False, np.array([0] if first else [], np.int64)
    begins = np.concatenate(([True], np.diff(places) != 1))
    run = places[begins][np.cumsum(begins) - 1]
    escaped = places[(places - run) % 2 == 0] + 1
    if first:
        escaped = np.concatenate(([0], escaped))
    return bool(escaped[-1] == len(block)), escaped[escaped < len(block)]
