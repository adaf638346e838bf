"""Read the relevance judgements of a BEIR folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from data.refused import Refused, shown


@dataclass(frozen=True, slots=True)
class Judgement:
    """One line of a qrels file. grade: relevance of the document; 0 means not relevant. where: ``path:line``."""

    query_id: str
    document_id: str
    grade: int
    where: str


def read_judgements(path: Path) -> Iterator[Judgement | Refused]:
    """Yield the lines of a BEIR qrels file: query ID, document ID and grade, separated by tabs, after one header line.

    Bad lines, and a file that cannot be read, are yielded as Refused.
    """
    name = shown(path)
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                where = f"{name}:{number}"
                try:
                    line = raw.decode("utf-8-sig").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    yield Refused(where, f"not UTF-8 at byte {error.start} of the line")
                    continue
                cells = line.split("\t")
                if not line.strip() or (number == 1 and cells[0] == "query-id"):
                    continue
                if len(cells) != 3 or not cells[0] or not cells[1]:
                    yield Refused(where, f"{len(cells)} cells, but there must be three: query id, document id, grade")
                    continue
                try:
                    yield Judgement(cells[0], cells[1], int(cells[2]), where)
                except ValueError:
                    yield Refused(where, f"the grade {cells[2]!r} is not an integer")
    except OSError as error:
        yield Refused(name, f"cannot be read ({error.strerror})")
