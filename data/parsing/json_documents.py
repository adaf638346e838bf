"""Parse .json files (an object, a list of objects, or SQuAD articles) and .jsonl files (an object per line)."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Iterator
from typing import IO, NoReturn, cast

from data.document_json import document_from_fields
from data.documents import Document
from data.fields import FieldError, kind_of
from data.jsonl import JsonLine, json_lines
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Item, NumberedDocument, Origin
from data.parsing.plain_text import read_limited
from data.refused import Refused, part


def parse_json(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Item]:
    """Yield the documents of a .json file. Raises ParseError for any other layout.

    Accepted layouts are ``{"text", "title", ...}`` (without an ID, the file's name is used), ``[{"id", "text"}, ...]``,
    the same list under "documents", and SQuAD's ``{"data": [{"title", "paragraphs": [{"context"}]}]}``. Each SQuAD
    paragraph becomes a separate document named ``title/number``, so that answer offsets stay valid.
    """
    value = _parse(read_limited(file, limits.file_bytes))
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        yield from _squad(value["data"], origin)
        return
    if isinstance(value, dict) and "text" in value:
        with_id = value if value.get("id", value.get("_id")) is not None else {**value, "id": origin.document_id}
        yield _document(with_id, origin.where, origin)
        return
    items = value.get("documents") if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise ParseError(
            f'it is {kind_of(value)} without documents: give an object with "text", a list of such objects, or '
            "SQuAD's layout"
        )
    if not items:
        raise ParseError("it is an empty list")
    for number, item in enumerate(items):
        where = f"{origin.where}[{number}]"
        if isinstance(item, dict):
            yield _document(item, where, origin)
        else:
            yield part(where, f"the item is {kind_of(item)}, it must be an object such as {{...}}")


def parse_jsonl(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Item]:
    """Yield a document for each line ``{"id" or "_id", "title", "text", "metadata"}``.

    Invalid lines are refused by their number. Only one line is in memory at a time.
    """
    for line in json_lines(file, origin.where, limits.line_bytes):
        item = line if isinstance(line, Refused) else _document(line.fields, line.where, origin)
        yield NumberedDocument(item, line.number) if isinstance(line, JsonLine) and isinstance(item, Document) else item


def parse_jsonl_gzip(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Item]:
    """Unpack a gzip file and parse it with ``parse_jsonl``."""
    with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
        yield from parse_jsonl(cast(IO[bytes], unpacked), origin, limits)


def parse_jsonl_bzip2(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Item]:
    """Unpack a bzip2 file and parse it with ``parse_jsonl``."""
    with bz2.BZ2File(file, mode="rb") as unpacked:
        yield from parse_jsonl(cast(IO[bytes], unpacked), origin, limits)


def _parse(raw: bytes) -> object:
    """Parse JSON in UTF-8, UTF-16 or UTF-32. Raises ParseError if it is invalid."""
    try:
        return json.loads(raw, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise ParseError(f"invalid {error.encoding} at byte {error.start}: JSON must be UTF-8") from None
    except json.JSONDecodeError as error:
        raise ParseError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ParseError("unsupported JSON: nested too deeply") from None
    except ValueError as error:  # A constant that JSON does not have, or a number with too many digits for Python.
        raise ParseError(f"unsupported JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _document(fields: dict[str, object], where: str, origin: Origin) -> Document | Refused:
    try:
        document = document_from_fields(fields)
    except FieldError as error:
        return part(where, str(error))
    if not origin.metadata:
        return document
    return Document(document.id, document.title, document.text, origin.metadata_with(*document.metadata))


def _squad(articles: list[object], origin: Origin) -> Iterator[Item]:
    found = False
    for a, article in enumerate(articles):
        paragraphs = article.get("paragraphs") if isinstance(article, dict) else None
        title = article.get("title") if isinstance(article, dict) else None
        if not isinstance(paragraphs, list):
            yield part(
                f"{origin.where}: data[{a}]", "it has no list 'paragraphs': the file does not have SQuAD's layout"
            )
            continue
        for p, paragraph in enumerate(paragraphs):
            where = f"{origin.where}: data[{a}].paragraphs[{p}]"
            context = paragraph.get("context") if isinstance(paragraph, dict) else None
            name = f"{title or a}/{p + 1}"
            yield _document({"id": name, "title": title, "text": context}, where, origin)
            found = True
    if not found:
        raise ParseError("it has no paragraphs: SQuAD's layout has paragraphs with a 'context' under 'data'")
