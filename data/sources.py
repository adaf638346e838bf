"""Sources of documents that a user can name: a path, or a database query."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from data.errors import DataError

_SQL = "sql:"
_TABLE = re.compile(r"\bfrom\s+[\"`\[]?([\w.]+)", re.IGNORECASE)
_EXAMPLE = "'sql:sqlite:///notes.db SELECT id, title, text FROM notes'"
_PASSWORD = re.compile(r"(://[^:/@\s]*:)[^@\s]*(?=@)|([?&]password=)[^&\s]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SqlSource:
    """A database query as a source of documents.

    url: database URL of SQLAlchemy. It may have a password, so print and store only ``shown``. query: a SELECT.
    """

    url: str
    query: str

    @property
    def shown(self) -> str:
        """The source without its password."""
        return f"{_SQL}{_without_password(self.url)} {self.query}"

    @property
    def label(self) -> str:
        """Short name: the database and, if the query names one, its first table."""
        database = re.split(r"[?#]", self.url)[0].rstrip("/").rpartition("/")[2].rpartition("@")[2]
        table = _TABLE.search(self.query)
        return f"{database}:{table[1]}" if table else database


Source = Path | SqlSource


def parse_source(text: str) -> Source:
    """Return the source in ``sql:URL SELECT id, title, text FROM ...`` or in a path.

    A file called ``sql:x`` is written ``./sql:x``. Nothing is opened. Raises DataError if there is no URL or no query
    after ``sql:``.
    """
    if not text.startswith(_SQL):
        return Path(text)
    url, _, query = text[len(_SQL) :].strip().partition(" ")
    if "://" not in url or not query.strip():
        raise DataError(
            f"{_without_password(text)!r} is not a database source: write the URL, a space and a query as one "
            f"argument, such as {_EXAMPLE}"
        )
    return SqlSource(url, query.strip())


def _without_password(url: str) -> str:
    return _PASSWORD.sub(lambda match: f"{match.group(1) or match.group(2)}***", url)
