"""Track superscript and subscript text in HTML: sup, sub, vertical-align, and links to notes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from data.parsing.hidden_text import style_of
from data.parsing.superscripts import Level, is_note_mark, raised_text

_LENGTH = re.compile(r"([+-]?)(\d{0,6}\.?\d{1,6})(?:px|pt|em|rem|ex|ch|mm|%)")
_NOTE_CLASS = re.compile(
    r"\b(?:foot-?note|end-?note|note|fn|cite|citation|reference)-?_?(?:ref(?:erence)?|anchor|mark|call|link)\b|\bnoteref\b"
)
_NOTE_TARGET = re.compile(r"#(?:_?ftn|_?edn|fn|foot-?note|end-?note|cite_note|note)[-_:.]?\w{0,40}$")
# Inline elements. On other elements, vertical-align has another meaning.
_INLINE = frozenset(re.findall(r"\w+", "a abbr b cite code em font i ins mark q s small span strong u var"))


class RaisedMarkup:
    """State of the element that raises or lowers text, from its start tag until the text after it is known."""

    def __init__(self) -> None:
        self._level: Level = "sup"
        self._element = ("", 0)  # its tag, and the number of open elements of that name within it
        self._parts: list[str] | None = None
        self._is_link = self._keeps_level = False
        self._ended = False  # whether it has ended

    @property
    def is_open(self) -> bool:
        """Whether the following text belongs to the element."""
        return self._parts is not None and not self._ended

    def begin(self, tag: str, attributes: Mapping[str, str], *, in_link: bool) -> None:
        """Handle a start tag. in_link: whether the element is within a link."""
        if self.is_open:
            self._is_link = self._is_link or tag == "a"
            if tag == self._element[0]:
                self._element = (tag, self._element[1] + 1)
            return
        level = script_position(tag, attributes)
        is_note = tag == "a" and _is_note_link(attributes)
        if level or is_note:
            self._level, self._element, self._parts = level or "sup", (tag, 1), []
            self._keeps_level, self._is_link = not level, is_note or in_link or tag == "a"

    def end(self, tag: str) -> bool:
        """Handle an end tag. Return whether it ends the element."""
        if not self.is_open or tag != self._element[0]:
            return False
        self._element = (tag, self._element[1] - 1)
        self._ended = not self._element[1]
        return self._ended

    def add(self, text: str) -> None:
        """Add text of the element."""
        if self._parts is not None:
            self._parts.append(text)

    def stop(self) -> None:
        """End every open element, at the end of the page or paragraph."""
        self._ended = self._parts is not None

    def take(self, before: str, after: str) -> str:
        """Return the text of the element if it has ended, otherwise "". before, after: the text around it."""
        if not self._ended or self._parts is None:
            return ""
        content = "".join(self._parts)
        self._parts, self._ended = None, False
        if self._keeps_level and not is_note_mark(content):
            return content
        return raised_text(before, content, self._level, after, is_link=self._is_link)


def script_position(tag: str, attributes: Mapping[str, str]) -> Level | None:
    """Return "sup" or "sub" if an element raises or lowers its text by tag or ``vertical-align``, otherwise None."""
    if tag == "sup" or tag == "sub":
        return "sup" if tag == "sup" else "sub"
    if tag not in _INLINE or "vertical-align" not in attributes.get("style", "").lower():
        return None
    value = style_of(attributes).get("vertical-align", "")
    if value == "super" or value == "sub":
        return "sup" if value == "super" else "sub"
    if (length := _LENGTH.fullmatch(value)) and float(length[2]):
        return "sub" if length[1] == "-" else "sup"
    return None


def _is_note_link(attributes: Mapping[str, str]) -> bool:
    roles = f"{attributes.get('role', '')} {attributes.get('epub:type', '')}".lower()
    if "noteref" in roles or _NOTE_CLASS.search(attributes.get("class", "").lower()):
        return True
    return _NOTE_TARGET.search(attributes.get("href", "").lower()) is not None
