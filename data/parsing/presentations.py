"""Parse .pptx files. A file becomes one document with text, tables and speaker notes; each slide is a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from data.documents import Document
from data.parsing.decoding import one_line
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.office_archives import checked_office_file
from data.parsing.origin import Origin
from data.parsing.superscripts import raised_text
from data.parsing.text_builder import TextBuilder

_DEPTH = 20


def parse_pptx(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document]:
    """Yield one document. Shapes keep their order, each paragraph is a line, and notes follow their slide.

    Cells of tables are separated by tabs. Headings are the slide titles, and the title is the title property. The
    metadata are ``author`` and ``pages`` (number of slides). Pictures, charts and SmartArt are ignored. Raises
    ParseError if the file is invalid or has no text.
    """
    content = checked_office_file(file, limits, "ppt/presentation.xml", ".pptx")
    import pptx

    presentation = pptx.Presentation(content)
    text = TextBuilder()
    slides = list(presentation.slides)
    for slide in slides:
        text.begin_page()
        text.gap("\n\n")
        title = slide.shapes.title
        for shape in slide.shapes:
            _add_shape(text, shape, 0, is_title=title is not None and shape.shape_id == title.shape_id)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            text.gap("\n\n")
            _add_frame(text, slide.notes_slide.notes_text_frame)
    body = text.text()
    if not body:
        raise ParseError(f"its {len(slides)} slides have no text (only images?)")
    properties = presentation.core_properties
    metadata = origin.metadata_with(("author", one_line(properties.author or "")), ("pages", str(len(slides))))
    yield Document(origin.document_id, one_line(properties.title or ""), body, metadata, text.outline())


def _add_shape(text: TextBuilder, shape: Any, depth: int, *, is_title: bool = False) -> None:
    if depth > _DEPTH:
        raise ParseError("shapes are grouped too deeply")
    if hasattr(shape, "shapes"):
        for inner in shape.shapes:
            _add_shape(text, inner, depth + 1)
    elif getattr(shape, "has_table", False):
        text.begin_table()
        for row in shape.table.rows:
            text.begin_row()
            for cell in row.cells:
                text.begin_cell()
                _add_frame(text, cell.text_frame)
            text.end_row()
        text.end_table()
    elif shape.has_text_frame and shape.text_frame.text.strip():
        text.gap("\n\n")
        if is_title:
            text.begin_heading(1)
        _add_frame(text, shape.text_frame)
        text.end_heading()
        text.gap("\n\n")


def _add_frame(text: TextBuilder, frame: Any) -> None:
    for number, paragraph in enumerate(frame.paragraphs):
        if number:
            text.gap("\n")
        runs = list(paragraph.runs)
        if not any(_baseline(run) for run in runs):
            text.add_exactly(paragraph.text.replace("\v", "\n"))
            continue
        for index, run in enumerate(runs):
            if height := _baseline(run):
                after = runs[index + 1].text if index + 1 < len(runs) else ""
                text.add(raised_text(text.tail, run.text, "sup" if height > 0 else "sub", after))
            else:
                text.add_exactly(run.text)


def _baseline(run: Any) -> int:
    """Return the baseline offset of a run in thousandths of a percent; negative for subscripts."""
    properties = run._r.rPr
    value = properties.get("baseline", "0") if properties is not None else "0"
    return int(value) if value.lstrip("-").isdigit() else 0
