"""Convert the body of a .docx file to text: numbered paragraphs, tables, text boxes, formulas and superscripts."""

from __future__ import annotations

import re
from collections.abc import Callable

from data.parsing.formulae import Formula
from data.parsing.office_xml import XmlEvents
from data.parsing.superscripts import raised_text
from data.parsing.symbol_fonts import symbol_character, without_private_codes
from data.parsing.text_builder import TextBuilder
from data.parsing.word_numbering import Numbering
from data.parsing.word_styles import RAISED, Styles, level_of

# Elements that are omitted: deleted text, field codes, and the fallback form of content that is stored twice.
_OMITTED = frozenset(("del", "moveFrom", "instrText", "delText", "Fallback"))
_ENGLISH_ID = re.compile(r"(?:heading([1-9])|title)$", re.IGNORECASE)
_GAPS = {"tab": "\t", "br": "\n", "cr": "\n"}


class WordBody(XmlEvents):
    """A converter of the body to ``text``. If a file has no styles, style IDs are matched with the English names.

    embedded_text: returns the text of an embedded part (altChunk) for its relationship ID, "" if it is unreadable.
    """

    def __init__(self, styles: Styles, numbering: Numbering, embedded_text: Callable[[str], str]) -> None:
        self.text = TextBuilder()
        self.title = ""
        self._styles, self._numbering, self._embedded_text = styles, numbering, embedded_text
        self._levels = styles.levels()
        self._in_text = False
        self._in_title = False
        self._rows = 0
        self._in_cell = False  # whether a paragraph of the current cell has begun
        self._omitted = ""
        self._omitted_depth = 0
        self._style = ""
        self._num: str | None = None
        self._num_level: int | None = None
        self._font = ""
        self._raised = ""  # "sup" or "sub" for the current run
        self._pending: tuple[str, str] = ("", "")  # raised text whose following characters are not known yet
        self._formula: list[Formula] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        if self._omitted:
            self._omitted_depth += name == self._omitted
            return
        if self._formula or name == "oMath":
            self._begin_formula(name, attributes)
            return
        value = attributes.get("val", "")
        match name:
            case "t":
                self._in_text = True
            case "p":
                self._begin_paragraph()
            case "r":
                self._raised, self._font = "", ""
            case "vertAlign":
                self._raised = RAISED.get(value, "")
            case "position":
                self._raised = level_of(value) or self._raised
            case "rStyle":
                self._raised = self._styles.raised.get(value, "")
            case "rFonts":
                self._font = attributes.get("ascii") or attributes.get("hAnsi", "")
            case "sym":
                code = attributes.get("char", "")
                if re.fullmatch(r"[0-9A-Fa-f]{1,6}", code):
                    self._add(symbol_character(int(code, 16), attributes.get("font", "")))
            case "tbl" | "tr" | "tc" | "gridSpan" | "gridBefore":
                self._begin_table_part(name, value)
            case "pStyle":
                self._style = value
                self._begin_heading(value)
            case "numId":
                self._num = value
            case "ilvl" if value.isdecimal():
                self._num_level = int(value)
            case "outlineLvl" if value.isdecimal() and int(value) < 9:
                self.text.begin_heading(int(value) + 1)
            case "tab" | "br" | "cr":
                self._write_raised("")
                self.text.gap(_GAPS[name])
            case "noBreakHyphen":
                self._add("-")
            case "altChunk":
                self.text.gap("\n\n")
                self.text.add_exactly(self._embedded_text(attributes.get("id", "")))
                self.text.gap("\n\n")
            case _ if name in _OMITTED:
                self._omitted, self._omitted_depth = name, 1

    def end(self, name: str) -> None:
        """Handle the end of an element."""
        if self._omitted:
            self._omitted_depth -= name == self._omitted
            if not self._omitted_depth:
                self._omitted = ""
            return
        if self._formula:
            self._end_formula()
            return
        match name:
            case "t":
                self._in_text = False
            case "pPr":
                self._write_number()
            case "p":
                self._write_raised("")
                self.text.end_heading()
                if not self._rows:
                    self.text.gap("\n\n")
            case "tc":
                self._in_cell = False
            case "tr":
                self._rows = max(0, self._rows - 1)
                self._in_cell = bool(self._rows)
                self.text.end_row()
            case "tbl":
                self.text.end_table()

    def characters(self, text: str) -> None:
        """Handle characters between tags."""
        if self._omitted:
            return
        if self._formula:
            self._formula[-1].parts.extend([text] if self._formula[-1].name == "t" else [])
        elif self._in_text:
            if self._in_title and len(self.title) < 1000:
                self.title += text
            self._add(without_private_codes(text, self._font))

    def _add(self, text: str) -> None:
        level, waiting = self._pending
        if self._raised:
            if level != self._raised:
                self._write_raised("")
                waiting = ""
            self._pending = (self._raised, waiting + text)
            return
        self._write_raised(text)
        self.text.add_exactly(text)

    def _write_raised(self, after: str) -> None:
        """Write pending superscript or subscript text. after: the text that follows it."""
        level, content = self._pending
        if level:
            self._pending = ("", "")
            self.text.add(raised_text(self.text.tail, content, "sup" if level == "sup" else "sub", after))

    def _begin_paragraph(self) -> None:
        self._write_raised("")
        self._in_title = False
        self._style, self._num, self._num_level = "", None, None
        if not self._rows:
            self.text.gap("\n\n")
        elif self._in_cell:
            self.text.gap("\n")
        self._in_cell = True

    def _begin_heading(self, style: str) -> None:
        level = self._levels.get(style)
        if level is None and (match := _ENGLISH_ID.match(style)):
            level = int(match.group(1) or 0)
        if level is not None:
            self._in_title = level == 0 and not self.title
            self.text.begin_heading(max(level, 1))

    def _begin_table_part(self, name: str, value: str) -> None:
        columns = int(value) if value.isascii() and value.isdigit() and len(value) < 5 else 1
        match name:
            case "tbl":
                self.text.begin_table()
            case "tr":
                self._rows += 1
                self._in_cell = False
                self.text.begin_row()
            case "tc":
                self.text.begin_cell()
                self._in_cell = False
            case "gridSpan":
                self.text.widen(columns - 1)
            case "gridBefore":
                self.text.widen(columns)

    def _write_number(self) -> None:
        """Write the automatic number of a paragraph. Called at the end of the paragraph's properties."""
        num, level = self._styles.numbered.get(self._style, ("", 0))
        if num and not level:
            level = self._numbering.level_of_style(num, self._style)
        num = num if self._num is None else self._num
        level = level if self._num_level is None else self._num_level
        if label := self._numbering.label(num, level):
            self.text.add(label)
            self.text.gap(" ")

    def _begin_formula(self, name: str, attributes: dict[str, str]) -> None:
        if not self._formula:
            self._write_raised("")
        node = Formula(name, attributes=attributes)
        if self._formula:
            self._formula[-1].parts.append(node)
        self._formula.append(node)

    def _end_formula(self) -> None:
        node = self._formula.pop()
        if not self._formula:
            self.text.add(node.text())
