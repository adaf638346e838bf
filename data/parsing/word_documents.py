"""Parse .docx files. A file becomes one document with the text of its body and headings by style."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

from data.documents import Document
from data.parsing.declared_encoding import decode_declared
from data.parsing.decoding import decode, one_line
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.office_xml import Budget, read_xml
from data.parsing.origin import Origin
from data.parsing.web_pages import read_page
from data.parsing.word_body import WordBody
from data.parsing.word_numbering import Numbering
from data.parsing.word_styles import Properties, Relations, Styles
from data.refused import Refused, part

_BODY = "word/document.xml"
_OLD_FORMAT_ADVICE = "; a .doc file or one with a password must be saved as a plain .docx"
_MAX_EMBEDDED_DEPTH = 3


def parse_docx(file: IO[bytes], origin: Origin, limits: ParsingLimits) -> Iterator[Document | Refused]:
    """Yield one document. Paragraphs are separated by blank lines, table rows by line breaks, and cells by tabs.

    Automatic numbers, text boxes and embedded parts (altChunk) are included at their positions. Headers, footers, notes
    and comments are omitted. The title is the title property, or else the first paragraph of the style Title. The
    metadata are ``author``. An unreadable embedded part is refused by name. Raises ParseError if the file is invalid or
    has no text.
    """
    document = _Docx(Budget(limits.file_bytes))
    body = document.read(file)
    text = body.text.text()
    if not text:
        raise ParseError("it has no text")
    yield from (part(f"{origin.where}/{name}", reason) for name, reason in document.unreadable)
    title = one_line(document.properties.title) or one_line(body.title)
    metadata = origin.metadata_with(("author", one_line(document.properties.creator)))
    yield Document(origin.document_id, title, text, metadata, body.text.outline())


@dataclass(slots=True)
class _Docx:
    """A file with its embedded parts.

    budget: number of bytes that may still be unpacked. depth: nesting depth of the file. unreadable: (name, reason) of
    each embedded part that is unreadable.
    """

    budget: Budget
    depth: int = 0
    properties: Properties = field(default_factory=Properties)
    unreadable: list[tuple[str, str]] = field(default_factory=list)

    def read(self, file: IO[bytes]) -> WordBody:
        try:
            with zipfile.ZipFile(file) as archive:
                names = set(archive.namelist())
                if "EncryptionInfo" in names or "EncryptedPackage" in names:
                    raise ParseError("it is encrypted and needs a password: save it without one")
                if _BODY not in names:
                    raise ParseError(f"it is a zip file without {_BODY}, not a .docx file")
                styles, numbering, relations = Styles(), Numbering(), Relations()
                for name, events in (
                    ("word/styles.xml", styles),
                    ("word/numbering.xml", numbering),
                    ("word/_rels/document.xml.rels", relations),
                    ("docProps/core.xml", self.properties),
                ):
                    if name in names:
                        read_xml(archive, name, events, self.budget)
                body = WordBody(
                    styles, numbering, lambda key: self.embedded_text(archive, relations.targets.get(key, ""))
                )
                read_xml(archive, _BODY, body, self.budget)
                return body
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise ParseError(
                f"not a .docx file, or damaged ({one_line(str(error), 100)}){_OLD_FORMAT_ADVICE}"
            ) from None
        except RuntimeError as error:  # zipfile raises this for an encrypted member.
            raise ParseError(f"a part of it cannot be read ({one_line(str(error), 100)})") from None

    def embedded_text(self, archive: zipfile.ZipFile, target: str) -> str:
        """Return the text of an embedded part. If it is unreadable, return "" and record it in ``unreadable``."""
        name = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"word/{target}")
        try:
            with archive.open(name) as stored:
                raw = stored.read(self.budget.remaining + 1)
            self.budget.spend(len(raw))
            return self._text_of(name.lower(), raw)
        except KeyError:
            self.unreadable.append((name, "the embedded part is missing"))
        except ParseError as error:
            if self.budget.remaining < 0:
                raise
            self.unreadable.append((name, f"the embedded part cannot be read: {error}"))
        return ""

    def _text_of(self, name: str, raw: bytes) -> str:
        if name.endswith((".html", ".htm", ".xhtml")):
            return read_page(decode_declared(raw).text).body.text()
        if name.endswith(".txt"):
            return decode(raw).text
        if name.endswith(".docx") and self.depth < _MAX_EMBEDDED_DEPTH:
            inner = _Docx(self.budget, self.depth + 1, unreadable=self.unreadable)
            return inner.read(io.BytesIO(raw)).text.text()
        raise ParseError("only .html, .txt and .docx parts are supported, nested up to 3 deep")
