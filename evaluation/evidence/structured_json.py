"""Conversion of JSON, Python literals and malformed variants to sentences, in one pass over tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from evaluation.evidence.structured_words import StructuredSentence, ended, shown_value, split_key, spoken_path
from retrieval.chunking.sentences import sentence_spans

_MAX_SENTENCES, _MAX_DEPTH = 20_000, 24
_LONG_VALUE, _LONGEST_KEY, _FIELDS_IN_A_ROW = 160, 200, 12

# Quantifiers are possessive, and an unterminated string extends to the end of the text, so that no character is scanned
# twice.
_TOKEN = re.compile(
    r"""(?P<open>[{\[(])|(?P<close>[}\])])|(?P<colon>:)|(?P<comma>,)"""
    r"""|u?(?P<quoted>"(?:[^"\\]++|\\.)*+"?|'(?:[^'\\]++|\\.|(?<=\w)'(?=\w))*+'?)"""
    r"""|(?P<bare>[^\s{}\[\]():,"'](?:[^{}\[\]:,"'\n]++|(?<=\w)'(?=\w)|(?<=\d):(?=\d))*+)""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": " ", "b": " ", "f": " "}


@dataclass(slots=True)
class _Pending:
    """The value (or key) read so far: its parts and its span in the text."""

    parts: list[str]
    start: int
    end: int

    @property
    def text(self) -> str:
        return " ".join(self.parts)


@dataclass(slots=True)
class _Level:
    """State of one open bracket.

    name: key that the bracket belongs to. key: current key within it. items: pending values. row: fields of an object
    in a list, emitted together when it closes; None for any other bracket.
    """

    name: str
    is_list: bool
    start: int
    key: str = ""
    key_start: int = -1
    count: int = 0
    items: list[_Pending] = field(default_factory=list)
    row: list[StructuredSentence] | None = None


def json_sentences(text: str) -> list[StructuredSentence] | None:
    """Return the sentences of a text that is mostly JSON (an introductory line may precede it), or None."""
    begin = re.search(r"[{\[]", text[:400])
    if begin is None or (begin.start() and not text[: begin.start()].rstrip(" \t").endswith((":", "\n"))):
        return None
    last = max(text.rfind("}"), text.rfind("]")) + 1
    end = last if last > begin.start() and not text[last:].lstrip().startswith(",") else len(text)
    if end - begin.start() < 0.5 * len(text):
        return None
    found = list(_prose(text, 0, begin.start()))
    keyed = total = 0
    for sentence, has_key in _leaves(text, begin.start(), end):
        found.append(sentence)
        keyed, total = keyed + has_key, total + 1
        if len(found) >= _MAX_SENTENCES:
            break
    if keyed < 1 or keyed < 0.3 * total:
        return None
    return found + list(_prose(text, end, len(text)))


def _leaves(
    text: str, begin: int, end: int, around: tuple[str, ...] = (), within: bool = False
) -> Iterator[tuple[StructuredSentence, bool]]:
    """Yield every value in the brackets of text[begin:end] as a sentence, and whether it has a key.

    around: names outside these brackets.
    within: whether this is the text of a string value (one level only).
    """
    stack: list[_Level] = []
    depth, position = 0, begin
    pending: _Pending | None = None
    while position < end and (token := _TOKEN.search(text, position, end)) is not None:
        position = token.end()
        kind = token.lastgroup
        if kind == "quoted" or kind == "bare":
            inner = token[kind].strip() if kind == "bare" else _between_quotes(token["quoted"])
            if kind == "quoted" and not within and "\\" not in inner and inner[:1] in ("{", "[") and inner[-1:] in "}]":
                names = (*around, *_outer(stack), stack[-1].key if stack else "")
                start = token.start("quoted") + 1
                yield from _leaves(text, start, start + len(inner), names, within=True)
                if stack:
                    stack[-1].key, stack[-1].key_start = "", -1
                continue
            value = _unescaped(inner) if kind == "quoted" else inner
            if pending is None:
                pending = _Pending([value], token.start(), token.start() + len(token.group().rstrip()))
            else:
                pending.parts.append(value)
                pending.end = position
        elif kind == "colon":
            top = stack[-1] if stack else None
            if top is not None and not top.is_list and pending is not None and top.key_start < 0:
                top.key, top.key_start, pending = pending.text[:_LONGEST_KEY], pending.start, None
            elif pending is not None:
                pending.parts.append(":")
        elif kind == "open":
            depth += 1
            pending = None
            if depth <= _MAX_DEPTH:
                yield from _opened(stack, token.group() != "{", token.start(), around)
        else:
            yield from _emit_value(stack, pending, around)
            pending = None
            if kind == "close":
                if depth <= _MAX_DEPTH and stack:
                    yield from _closed(stack, position, around)
                depth = max(0, depth - 1)
    yield from _emit_value(stack, pending, around)
    while stack:
        yield from _closed(stack, position, around)


def _opened(
    stack: list[_Level], is_list: bool, position: int, around: tuple[str, ...]
) -> Iterator[tuple[StructuredSentence, bool]]:
    parent = stack[-1] if stack else None
    name, start = "", position
    row: list[StructuredSentence] | None = None
    if parent is not None:
        if parent.row is not None:
            yield from _emit_row(stack, around)
            parent.row = None
        if parent.is_list:
            parent.count += 1
            name = f"{parent.name} {parent.count}" if parent.name else ""
            row = [] if not is_list else row
        else:
            name = parent.key
        start = parent.key_start if parent.key_start >= 0 else position
    level = _Level(name, is_list, start)
    level.row = row
    stack.append(level)


def _closed(stack: list[_Level], position: int, around: tuple[str, ...]) -> Iterator[tuple[StructuredSentence, bool]]:
    yield from _emit_row(stack, around)
    closed = stack.pop()
    if closed.items:
        values = ", ".join(shown_value(item.text) for item in closed.items)
        path = spoken_path((*around, *_outer(stack)), closed.name)
        yield from _value(path, values, closed.start, closed.items[0].start, max(position, closed.items[-1].end))
    if stack:
        stack[-1].key, stack[-1].key_start = "", -1


def _emit_value(
    stack: list[_Level], pending: _Pending | None, around: tuple[str, ...]
) -> Iterator[tuple[StructuredSentence, bool]]:
    if not stack:
        return
    top = stack[-1]
    if top.is_list:
        if pending is not None:
            top.items.append(pending)
        return
    if top.key_start >= 0:
        end = pending.end if pending is not None else top.key_start + max(1, len(top.key))
        value = pending.text if pending is not None else ""
        if top.row is not None and len(value) <= _LONG_VALUE:
            top.row.append(StructuredSentence(f"{split_key(top.key)} {shown_value(value)}", top.key_start, end))
        else:
            path = spoken_path((*around, *_outer(stack)), top.key)
            yield from _value(path, value, top.key_start, pending.start if pending else end, end)
    elif pending is not None:
        yield StructuredSentence(ended(shown_value(pending.text)), pending.start, pending.end), False
    top.key, top.key_start = "", -1


def _emit_row(stack: list[_Level], around: tuple[str, ...]) -> Iterator[tuple[StructuredSentence, bool]]:
    """Yield the fields of an object in a list as one sentence, like a table row.

    Many or long fields become one sentence each.
    """
    level = stack[-1]
    if not level.row:
        return
    path = spoken_path((*around, *_outer(stack)), "")
    parts, rest = level.row, "; ".join(part.text for part in level.row[1:])
    if len(parts) <= _FIELDS_IN_A_ROW and len(rest) <= 2 * _LONG_VALUE:
        text = f"{path} {parts[0].text}: {rest}" if rest else f"{path} {parts[0].text}"
        yield StructuredSentence(ended(text.strip()), parts[0].start, parts[-1].end), True
    else:
        for part in parts:
            yield StructuredSentence(ended(f"{path} {part.text}".strip()), part.start, part.end), True
    level.row = []


def _outer(stack: list[_Level]) -> list[str]:
    """Return the enclosing names. Lists are left out, because the names of their objects contain theirs."""
    return [level.name for level in stack[1:] if not level.is_list]


def _value(path: str, value: str, key_start: int, start: int, end: int) -> Iterator[tuple[StructuredSentence, bool]]:
    shown = shown_value(value)
    if len(shown) <= _LONG_VALUE:
        yield StructuredSentence(ended(f"{path}: {shown}" if path else shown), key_start, end), bool(path)
        return
    # A value with escapes is shorter than its source, so its sentences refer to the entire value.
    quote = (end - start - len(value)) // 2
    exact = end - start in (len(value), len(value) + 2)
    for span in sentence_spans(value):
        part = " ".join(value[span.start : span.end].split())
        a, b = (start + quote + span.start, start + quote + span.end) if exact else (key_start, end)
        yield StructuredSentence(ended(f"{path}: {part}" if path else part), a, b), bool(path)


def _prose(text: str, start: int, end: int) -> Iterator[StructuredSentence]:
    for span in sentence_spans(text[start:end]):
        piece = " ".join(text[start + span.start : start + span.end].split())
        if any(character.isalnum() for character in piece):
            yield StructuredSentence(piece, start + span.start, start + span.end)


def _between_quotes(quoted: str) -> str:
    return quoted[1:-1] if len(quoted) > 1 and quoted[-1] == quoted[0] else quoted[1:]


def _unescaped(value: str) -> str:
    return _ESCAPE.sub(_unescape, value) if "\\" in value else value


def _unescape(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return " " if 0xD800 <= code <= 0xDFFF else chr(code)
    return _ESCAPED.get(match[2], match[2])
