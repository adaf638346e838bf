"""Parse .xlsx files. Each row of each sheet becomes a document, as for .csv files."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import IO, Any

from data.documents import Document
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.office_archives import checked_office_file
from data.parsing.origin import Item, NumberedDocument, Origin
from data.parsing.tables import TableRows

_PERCENT = "%"


def parse_xlsx(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Item]:
    """Yield one document per row, with the values that the saving program computed.

    The first row with more than one cell may be the header. Rows are named ``name#sheet!row``. An ID from the table is
    prefixed with the sheet's name, except on the first sheet. The metadata are ``row`` and ``sheet``. Raises ParseError
    if the file is invalid or has no rows.
    """
    content = checked_office_file(file, limits, "xl/workbook.xml", ".xlsx")
    import openpyxl

    book = openpyxl.load_workbook(content, read_only=True, data_only=True)
    nothing = True
    for index, sheet in enumerate(book.worksheets):
        sheet.reset_dimensions()  # the declared dimensions may be wrong
        inner = Origin(
            f"{origin.where} {sheet.title}",
            f"{origin.document_id}#{sheet.title}",
            origin.inside("sheet", sheet.title),
            origin.depth,
        )
        for item in _rows(sheet, inner):
            nothing = False
            yield _with_sheet(item, sheet.title) if index else item
    if nothing:
        raise ParseError("its sheets have no rows")


def _rows(sheet: Any, origin: Origin) -> Iterator[Item]:
    table = TableRows(origin, row_separator="!")
    for number, row in enumerate(sheet.iter_rows(), start=1):
        cells = [_formatted(cell) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            continue
        if table.columns is None and len(cells) == 1:
            # A title above the table, or a table with one column, becomes a separate document.
            metadata = origin.inside("row", str(number))
            yield NumberedDocument(Document(f"{origin.document_id}!{number}", "", cells[0], metadata), number)
            continue
        yield from table.add(_distinct(cells) if table.columns is None else cells, number, number)


def _distinct(header: list[str]) -> list[str]:
    """Return the header with numbers after repeated names, which occur if names repeat for groups of columns."""
    seen: dict[str, int] = {}
    names: list[str] = []
    for name in header:
        seen[name.lower()] = seen.get(name.lower(), 0) + 1
        names.append(name if not name or seen[name.lower()] == 1 else f"{name} ({seen[name.lower()]})")
    return names


def _with_sheet(item: Item, sheet: str) -> Item:
    """Return the item with its ID prefixed by the sheet's name, unless the ID contains it already."""
    document = item.document if isinstance(item, NumberedDocument) else item
    if not isinstance(document, Document) or f"#{sheet}!" in document.id:
        return item
    renamed = Document(f"{sheet}!{document.id}", document.title, document.text, document.metadata, document.outline)
    return NumberedDocument(renamed, item.line) if isinstance(item, NumberedDocument) else renamed


def _formatted(cell: Any) -> str:
    """Return a cell as text: integers without a decimal point, dates as ISO 8601, and percentages with a % sign."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        if _PERCENT in str(getattr(cell, "number_format", "") or ""):
            return f"{value * 100:.10g} %"
        return f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="minutes")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value).strip()
