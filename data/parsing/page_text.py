"""Extract the visible text of an HTML page.

The page is read as a stream of tags, without a tree, so that deeply nested tags need linear time and a constant stack.
"""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

from data.parsing.decoding import one_line
from data.parsing.formulae import Formula
from data.parsing.hidden_text import Colour, background_of, is_hidden, style_of
from data.parsing.raised_markup import RaisedMarkup
from data.parsing.text_builder import TextBuilder

_OMITTED = frozenset(("script", "style", "template", "svg", "iframe"))
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer "
        "form header hr html main menu nav ol p pre search section summary tbody tfoot thead ul h1 h2 h3 h4 h5 h6",
    )
)
_LINES = frozenset(("br", "li", "caption", "option", "legend"))
_CELLS = frozenset(("table", "tr", "td", "th"))
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_VOID = frozenset(re.findall(r"\w+", "area base br col embed hr img input link meta param source track wbr"))
# HTML elements end an unclosed svg or math element (HTML standard, 13.2.6.5).
_BREAKING = _BLOCKS.union(re.findall(r"\w+", "table tr td li br img span b i em strong sub sup"))
_PERMALINKS = frozenset(("¶", "#", "§", "🔗", "∞", "⚓", "¶¶", "\uf0c1", "\ue0cb"))
_PERMALINK_CLASS = re.compile(r"\b(?:headerlink|anchor(?:js)?(?:-link)?|permalink|hash-link|header-anchor)\b")
_SCRIPT_REQUIRED = re.compile(r"java\s?script|<\w", re.IGNORECASE)


class PageText(HTMLParser):
    """A parser that collects the text and the title of a page. Unclosed and overlapping tags are accepted.

    main_only: whether to keep only the main part of the page, without navigation.
    body: builder to which the text is appended, None for a new one.
    hidden: number of characters that were omitted because the page hides them.
    """

    def __init__(self, *, main_only: bool = False, body: TextBuilder | None = None) -> None:
        super().__init__(convert_charrefs=True)
        self.body = body if body is not None else TextBuilder()
        self.title: list[str] = []
        self.url = ""
        self.language = ""
        self.hidden = 0
        self._main_only = main_only
        self._main = ("", 0)  # tag of the main part, and the number of open elements of that name in it
        self._in_title = self._had_title = False
        self._exact_depth = 0
        self._open: Counter[str] = Counter()
        self._skipped: list[str] = []  # open elements, from the outermost one that is not shown
        self._skipped_hidden = False
        self._backgrounds: list[tuple[str, int, Colour]] = []
        self._link: dict[str, str] | None = None
        self._raised = RaisedMarkup()
        self._formula: list[Formula] = []
        self._noscript: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handle a start tag."""
        if self._skipped:
            if not self._ends_skipped(tag):
                if tag not in _VOID:
                    self._skipped.append(tag)
                return
            self._skipped = []
        if self._formula:
            if tag not in _BREAKING:
                self._formula.append(Formula(tag))
                self._formula[-2].parts.append(self._formula[-1])
                return
            self._end_formula()
        attributes = {name: value or "" for name, value in reversed(attrs)}
        if tag not in _VOID:
            hides = self._is_hidden(tag, attributes)
            if hides or tag in _OMITTED or self._is_navigation(tag, attributes):
                self._write_raised("")
                self._skipped, self._skipped_hidden = [tag], hides
                return
            self._open[tag] += 1
        if tag in _BLOCKS or tag in _CELLS or tag in _LINES:
            self._raised.stop()
        self._write_raised("")
        self._begin(tag, attributes)
        self._in_title = self._in_title and tag == "title"
        self._begin_block(tag, attributes)
        if tag in _HEADINGS:
            self.body.begin_heading(_HEADINGS[tag])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handle a self-closing tag."""
        # <script/> opens a script in HTML, but many pages are XHTML, where it is a complete element.
        if tag not in _OMITTED:
            self.handle_starttag(tag, attrs)
            if tag not in _VOID:
                self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Handle an end tag."""
        if self._skipped:
            if self._skipped[-1] == tag:
                self._skipped.pop()
            elif tag in self._skipped:
                del self._skipped[len(self._skipped) - 1 - self._skipped[::-1].index(tag) :]
            elif self._open[tag]:
                self._skipped = []  # The enclosing element ends, and so does this one.
                self.handle_endtag(tag)
            return
        if self._formula:
            index = next((n for n in range(len(self._formula) - 1, -1, -1) if self._formula[n].name == tag), -1)
            if index > 0:
                del self._formula[index:]
            elif index == 0:
                self._end_formula()
            return
        if self._backgrounds and self._backgrounds[-1][:2] == (tag, self._open[tag]):
            self._backgrounds.pop()
        self._open[tag] = max(0, self._open[tag] - 1)
        if self._raised.end(tag):
            self._end(tag)
            return
        self._write_raised("")
        self._end(tag)
        if tag in _HEADINGS:
            self.body.end_heading()
        self._end_block(tag)

    def handle_data(self, data: str) -> None:
        """Handle text between tags."""
        if self._skipped:
            self.hidden += len("".join(data.split())) if self._skipped_hidden else 0
        elif self._in_title:
            self.title.append(data)
        elif self._main_only and not self._main[1]:
            return
        elif self._noscript is not None:
            self._noscript.append(data)
        elif self._formula:
            self._formula[-1].parts.extend([data] if data.strip() else [])
        elif self._raised.is_open:
            self._raised.add(data)
        elif self._link is not None and _is_permalink(data, self._link):
            return
        else:
            self._write_raised(data)
            if self._exact_depth:
                self.body.add_exactly(data)
            else:
                self.body.add(data)

    def close(self) -> None:
        """Finish the page and close every open element."""
        super().close()
        self._end_formula()
        self._raised.stop()
        self._write_raised("")
        self._end("noscript")

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Handle ``<![``."""
        # The base class fails on unknown keywords. In HTML, the section is a comment that ends at the next ">".
        end = self.rawdata.find(">", i + 3)
        return end + 1 if end >= 0 else -1

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        name, depth = self._main
        if depth and tag == name:
            self._main = (name, depth + 1)
        elif not depth and (tag == "main" or attributes.get("role", "").strip().lower() == "main"):
            self._main = (tag, 1)
        match tag:
            case "title":
                self._in_title = not self._had_title
            case "html" | "link" | "meta":
                self._read_metadata(tag, attributes)
            case "pre" | "textarea":
                self._exact_depth += 1
            case "math":
                self._formula = [Formula("math")]
            case "a":
                self._link = attributes
            case "noscript":
                self._noscript = []
        self._raised.begin(tag, attributes, in_link=self._link is not None)

    def _end(self, tag: str) -> None:
        name, depth = self._main
        if depth and tag == name:
            self._main = (name, depth - 1)
        match tag:
            case "title":
                self._in_title, self._had_title = False, self._had_title or self._in_title
            case "pre" | "textarea":
                self._exact_depth = max(0, self._exact_depth - 1)
            case "a":
                self._link = None
            case "noscript" if self._noscript is not None:
                content, self._noscript = "".join(self._noscript), None
                if not _SCRIPT_REQUIRED.search(content):
                    self.body.add(content)

    def _write_raised(self, after: str) -> None:
        """Write pending superscript or subscript text. after: the text that follows it."""
        self.body.add(self._raised.take(self.body.tail, after))

    def _end_formula(self) -> None:
        if self._formula:
            self.body.add(
                f" {self._formula[0].text()} " if len(self._formula[0].text()) > 3 else self._formula[0].text()
            )
            self._formula = []

    def _is_hidden(self, tag: str, attributes: dict[str, str]) -> bool:
        style = style_of(attributes) if "style" in attributes else {}
        background = background_of(attributes, style)
        outer = self._backgrounds[-1][2] if self._backgrounds else None
        if is_hidden(attributes, style, background or outer):
            return True
        if background is not None:
            self._backgrounds.append((tag, self._open[tag] + 1, background))
        return False

    def _is_navigation(self, tag: str, attributes: dict[str, str]) -> bool:
        role = attributes.get("role", "").strip().lower()
        return self._main_only and (tag == "nav" or role in ("navigation", "search"))

    def _ends_skipped(self, tag: str) -> bool:
        """Return whether a start tag implicitly ends the element that is being omitted."""
        root, inner = self._skipped[0], self._skipped[1:]
        match root:
            case "svg":
                return tag in _BREAKING and "foreignobject" not in inner
            case "p":
                return tag in _BLOCKS or tag in ("p", "table", "li")
            case "li":
                return tag == "li" and not {"ul", "ol", "menu"} & set(inner)
            case "dt" | "dd":
                return tag in ("dt", "dd") and "dl" not in inner
            case "td" | "th":
                return tag in ("td", "th", "tr", "tbody") and "table" not in inner
            case "tr":
                return tag in ("tr", "tbody") and "table" not in inner
            case "option":
                return tag in ("option", "optgroup")
        return False

    def _begin_block(self, tag: str, attributes: dict[str, str]) -> None:
        match tag:
            case "table":
                self.body.begin_table()
            case "tr":
                self.body.begin_row()
            case "td" | "th":
                self.body.begin_cell(_number(attributes.get("colspan")), _number(attributes.get("rowspan")))
            case _:
                self._end_block(tag)

    def _end_block(self, tag: str) -> None:
        if tag == "table":
            self.body.end_table()
        elif tag == "tr":
            self.body.end_row()
        elif tag in _BLOCKS:
            self.body.gap("\n\n")
        elif tag in _LINES:
            self.body.gap("\n")

    def _read_metadata(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "html":
            self.language = self.language or one_line(attributes.get("lang", ""), 40)
        elif tag == "link" and "canonical" in attributes.get("rel", "").lower().split():
            self.url = one_line(attributes.get("href", "")) or self.url
        elif tag == "meta" and attributes.get("property", "").lower() == "og:url":
            self.url = self.url or one_line(attributes.get("content", ""))


def _is_permalink(data: str, link: dict[str, str]) -> bool:
    """Return whether a link's text is the permalink mark of a heading."""
    text = data.strip()
    if text in _PERMALINKS:
        return "#" in link.get("href", "") or _PERMALINK_CLASS.search(link.get("class", "").lower()) is not None
    return len(text) <= 2 and bool(text) and _PERMALINK_CLASS.search(link.get("class", "").lower()) is not None


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 6 else 1
