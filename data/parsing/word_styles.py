"""Read the styles, relationships and properties of a .docx file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from data.parsing.office_xml import XmlEvents

_HEADING_STYLE = re.compile(r"heading ([1-9])$", re.IGNORECASE)


@dataclass(slots=True)
class Styles(XmlEvents):
    """Paragraph and character styles, by style ID.

    named: name of the style.
    outlined: outline level, from 1.
    based: ID of the base style.
    numbered: list and level of its numbering.
    raised: "sup" or "sub" if the style raises or lowers text.
    current: ID of the style that is being read.
    """

    named: dict[str, str] = field(default_factory=dict)
    outlined: dict[str, int] = field(default_factory=dict)
    based: dict[str, str] = field(default_factory=dict)
    numbered: dict[str, tuple[str, int]] = field(default_factory=dict)
    raised: dict[str, str] = field(default_factory=dict)
    current: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
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
        """Handle the end of an element."""
        if name == "style":
            self.current = ""

    def levels(self) -> dict[str, int]:
        """Return the level (1 to 9) of each heading style, and 0 for the title style."""
        found: dict[str, int] = {}
        for style in self.named:
            ancestor, steps = style, 0
            while ancestor and steps < 20:  # limited, because base styles may form a cycle
                level = self._own_level(ancestor)
                if level is not None:
                    if level <= 9:
                        found[style] = level
                    break
                ancestor, steps = self.based.get(ancestor, ""), steps + 1
        return found

    def _own_level(self, style: str) -> int | None:
        name = self.named.get(style, "")
        if name.lower() == "title":
            return 0
        if match := _HEADING_STYLE.match(name):
            return int(match.group(1))
        return self.outlined.get(style)


@dataclass(slots=True)
class Properties(XmlEvents):
    """The title and creator from docProps/core.xml."""

    title: str = ""
    creator: str = ""
    inside: str = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of a property."""
        self.inside = name

    def end(self, name: str) -> None:
        """Handle the end of a property."""
        self.inside = ""

    def characters(self, text: str) -> None:
        """Keep about a thousand characters of the value."""
        if self.inside == "title":
            self.title += text[:1000]
        elif self.inside == "creator":
            self.creator += text[:1000]


RAISED = {"superscript": "sup", "subscript": "sub"}
_MIN_HALF_POINTS = 3  # smaller offsets are fine adjustments


def level_of(position: str) -> str:
    """Return "sup", "sub" or "" for a value of w:position, which is in half-points above the baseline."""
    height = int(position) if re.fullmatch(r"-?\d{1,4}", position) else 0
    return "" if abs(height) < _MIN_HALF_POINTS else "sup" if height > 0 else "sub"


@dataclass(slots=True)
class Relations(XmlEvents):
    """Relationships of a part. targets: target of each relationship to another part, by its ID."""

    targets: dict[str, str] = field(default_factory=dict)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle a relationship."""
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            self.targets[attributes.get("Id", "")] = attributes.get("Target", "")
