"""Map file extensions to parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import IO, cast

from data.parsing.limits import ParsingLimits
from data.parsing.origin import Item, Origin

Parser = Callable[[IO[bytes], Origin, ParsingLimits], Iterator[Item]]
"""A function that yields the documents of an open file and the refusals of parts of it.

It raises ParseError if the file cannot be parsed.
"""
ArchiveParser = Callable[[IO[bytes], Origin, ParsingLimits, Parser], Iterator[Item]]
"""A Parser for files that contain files. Its last argument parses the members."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The way in which files with an extension are parsed.

    module, function: names of the parser, which is imported when it is first needed.
    in_child: whether to parse in a child process. A format is parsed in this process if it needs no third-party parser
    and a single pass of bounded memory and time.
    streamed: whether documents are yielded before the entire file has been read.
    archive: whether the file contains files of other kinds.
    """

    module: str
    function: str
    in_child: bool = True
    streamed: bool = False
    archive: bool = False


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        ".txt": Kind("plain_text", "parse_plain_text", in_child=False),
        ".md": Kind("markdown", "parse_markdown"),
        ".markdown": Kind("markdown", "parse_markdown"),
        ".html": Kind("web_pages", "parse_web_page"),
        ".htm": Kind("web_pages", "parse_web_page"),
        ".xhtml": Kind("web_pages", "parse_web_page"),
        ".pdf": Kind("portable_documents", "parse_pdf"),
        ".docx": Kind("word_documents", "parse_docx"),
        ".pptx": Kind("presentations", "parse_pptx"),
        ".odt": Kind("open_documents", "parse_odt"),
        ".rtf": Kind("rich_text", "parse_rtf"),
        ".epub": Kind("books", "parse_epub"),
        ".eml": Kind("mails", "parse_mail", archive=True),
        ".xlsx": Kind("spreadsheets", "parse_xlsx", streamed=True),
        ".csv": Kind("tables", "parse_csv", streamed=True),
        ".tsv": Kind("tables", "parse_tsv", streamed=True),
        ".json": Kind("json_documents", "parse_json", streamed=True),
        ".jsonl": Kind("json_documents", "parse_jsonl", in_child=False, streamed=True),
        ".jsonl.gz": Kind("json_documents", "parse_jsonl_gzip", streamed=True),
        ".jsonl.bz2": Kind("json_documents", "parse_jsonl_bzip2", streamed=True),
        ".zip": Kind("archives", "parse_zip", streamed=True, archive=True),
    }
)

NO_EXTENSION = Kind("plain_text", "parse_unnamed", in_child=False)
"""Kind of files without an extension (README), which are parsed if they contain text."""

SHOWN_KINDS = ", ".join(KINDS)
"""All supported extensions, for messages."""


def kind_of_file(path: Path | str) -> Kind | None:
    """Return the kind for a file's extension, in any case.

    Returns ``NO_EXTENSION`` for a name without an extension, and None for an unsupported one.
    """
    name = str(path).lower().replace("\\", "/").rpartition("/")[2]
    stem, dot, last = name.rpartition(".")
    if not dot:
        return NO_EXTENSION if name else None
    if not stem:
        return None
    _, _, before = stem.rpartition(".")
    return KINDS.get(f".{before}.{last}") or KINDS.get(f".{last}")


def parser_of(kind: Kind) -> Parser:
    """Return the parser for files of this kind, which must not be an archive."""
    return cast(Parser, getattr(import_module(f"data.parsing.{kind.module}"), kind.function))


def archive_parser_of(kind: Kind) -> ArchiveParser:
    """Return the parser for archives of this kind."""
    return cast(ArchiveParser, getattr(import_module(f"data.parsing.{kind.module}"), kind.function))
