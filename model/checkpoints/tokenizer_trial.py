"""Test a tokenizer within limits; the child process of ``model.checkpoints.tokenizer_limits``.

Using a tokenizer runs regular expressions and tables of the checkpoint's author, and the library sets no limits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from model.checkpoints.source import tokenizer_text
from model.checkpoints.tokenizer import Tokenizer
from model.errors import ModelError
from model.limited_process import give_answer, take_request

_PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
_RUN = 4096
_PROSE = (
    "The warranty of the Heron 4 lasts 3 years; its price was 1,299.50 \u20ac.\n\tNa\u00efve \u4f60\u597d \U0001f600 "
)
_MOST_TOKENS, _MOST_CHARACTERS = 64, 64  # per character of text, and per token: published ones stay below 20
_AT_ONCE, _MOST_RULES = 1000, 2000


def main() -> None:
    """Serve one request: answer {} if the tokenizer at its "path" passes, else {"error"}."""
    request = take_request()
    answer: dict[str, object] = {}
    try:
        _try(Path(str(request["path"])))
    except MemoryError:  # in Python; in Rust it ends the process
        answer = {"error": f"it takes more than {int(str(request['memory_bytes'])) >> 20} MiB of memory"}
    except ModelError as error:
        answer = {"error": str(error), "named": True}
    give_answer(answer)


def _try(path: Path) -> None:
    tokenizer = Tokenizer.from_checkpoint(path)
    probes = _probes(tokenizer_text(path))
    for probe, encoding in zip(probes, tokenizer.encode_many(probes), strict=True):
        count = len(encoding.token_ids)
        if count > _MOST_TOKENS * (len(probe) + 1):
            raise ModelError(f"it encodes {len(probe):,} characters as {count:,} tokens")
    size = min(tokenizer.size, 1 << 20)
    for start in range(0, size, _AT_ONCE):
        ids = range(start, min(size, start + _AT_ONCE))
        written = sum(len(tokenizer.token(token_id)) for token_id in ids)
        length = len(tokenizer.decode(ids))
        if length > _MOST_CHARACTERS * (written + _AT_ONCE):
            raise ModelError(f"it decodes {len(ids):,} tokens to {length:,} characters")


def _probes(text: str) -> list[str]:
    """Return test texts: prose, each ASCII character, long runs of one character, and strings of the tokenizer's rules.

    text: content of tokenizer.json.
    """
    parts = json.loads(text)
    letters = [chr(code) for code in range(1, 128)]
    runs = [character * _RUN for character in "a 0.\n"]
    rules = [string[:_RUN] for name in _PARTS for string in _strings(parts.get(name))]
    return [_PROSE * 20, *letters, *runs, *rules[:_MOST_RULES]]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name != "precompiled_charsmap":  # a table in base64
                yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        yield value
