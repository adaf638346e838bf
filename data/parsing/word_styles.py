"""What a .docx file says besides its text: styles, numbering, relations between parts, properties."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from data.parsing.office_xml import XmlEvents

_HEADING_STYLE = re.compile(r"heading ([1-9])$", re.IGNORECASE)


@dataclass(slots=True)
class Styles(XmlEvents):
    """style id -> its name, its own outline level, the style it is based on, its numbering (list, level) and whether it
    raises ("sup") or lowers ("sub") text."""

    named: dict[str, str] = field(default_factory=dict)
    outlined: dict[str, int] = field(default_factory=dict)
    based: dict[str, str] = field(default_factory=dict)
    numbered: dict[str, tuple[str, int]] = field(default_factory=dict)
    raised: dict[str, str] = field(default_factory=dict)
    current: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element of a style."""
        value = attributes.get("val", "")
        match name:
            case "style":
                self.current = attributes.get("styleId", "")
            case "name" if self.current:
                self.named.setdefault(self.current, value)
            case "basedOn" if self.current:
                self.based[self.current] = value
            case "outlineLvl" if self.current and value.isdecimal():
                self.outlined[self.current] = int(value) + 1
            case "numId" if self.current:
                self.numbered[self.current] = (value, self.numbered.get(self.current, ("", 0))[1])
            case "ilvl" if self.current and value.isdecimal():
                self.numbered[self.current] = (self.numbered.get(self.current, ("", 0))[0], int(value))
            case "vertAlign" if self.current and value in RAISED:
                self.raised[self.current] = RAISED[value]
            case "position" if self.current and (level := level_of(value)):
                self.raised[self.current] = level

    def end(self, name: str) -> None:
        """An element of a style ends."""
        if name == "style":
            self.current = ""

    def levels(self) -> dict[str, int]:
        """The level (1 to 9) of each style that makes a heading, 0 of the one that makes the title."""
        found: dict[str, int] = {}
        for style in self.named:
            at, seen = style, 0
            while at and seen < 20:  # styles may be based on each other in a circle
                level = self._own(at)
                if level is not None:
                    if level <= 9:
                        found[style] = level
                    break
                at, seen = self.based.get(at, ""), seen + 1
        return found

    def _own(self, style: str) -> int | None:
        name = self.named.get(style, "")
        if name.lower() == "title":
            return 0
        if match := _HEADING_STYLE.match(name):
            return int(match.group(1))
        return self.outlined.get(style)


@dataclass(slots=True)
class Properties(XmlEvents):
    """title and creator as docProps/core.xml has them."""

    title: str = ""
    creator: str = ""
    inside: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """A property begins."""
        self.inside = name

    def end(self, name: str) -> None:
        """A property ends."""
        self.inside = ""

    def characters(self, text: str) -> None:
        """Of a property's value the first thousand characters or so."""
        if self.inside == "title":
            self.title += text[:1000]
        elif self.inside == "creator":
            self.creator += text[:1000]


RAISED = {"superscript": "sup", "subscript": "sub"}
_LEAST_HALF_POINTS = 3  # less is fine adjustment


def level_of(position: str) -> str:
    """ "sup", "sub" or "" for the value of w:position, half-points above the line."""
    height = int(position) if re.fullmatch(r"-?\d{1,4}", position) else 0
    return "" if abs(height) < _LEAST_HALF_POINTS else "sup" if height > 0 else "sub"


@dataclass(slots=True)
class Relations(XmlEvents):
    """id -> target of the parts that a part names."""

    targets: dict[str, str] = field(default_factory=dict)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """A relationship."""
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            self.targets[attributes.get("Id", "")] = attributes.get("Target", "")
