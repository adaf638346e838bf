"""Rank documents by their chunks, and read and write TREC run files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

from evaluation.errors import EvaluationError
from retrieval.chunking.chunks import RetrievedChunk


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document ranked by its best chunk. score: score of that chunk."""

    document_id: str
    score: float


Run = Mapping[str, Sequence[RankedDocument]]
"""Ranking of each question by its ID, best document first."""


def ranked_documents(found: Iterable[RetrievedChunk]) -> tuple[RankedDocument, ...]:
    """Return each document once, at the rank of its best chunk (max-passage, Dai and Callan, SIGIR 2019)."""
    best: dict[str, float] = {}
    for item in found:
        best.setdefault(item.chunk.document_id, item.score)
    return tuple(RankedDocument(document, score) for document, score in best.items())


def write_run(path: Path, run: Run, name: str) -> int:
    """Write lines ``question Q0 document rank score name`` and return their number.

    trec_eval sorts by score only, so 1/rank is written if scores do not decrease strictly (ties, MMR). White space in
    an ID is percent-encoded, because the format does not allow it.
    """
    lines = 0
    with path.open("w", encoding="utf-8") as file:
        for question, ranking in run.items():
            falling = all(one.score > other.score for one, other in pairwise(ranking))
            for rank, item in enumerate(ranking, start=1):
                score = item.score if falling else 1.0 / rank
                file.write(f"{_cell(question)} Q0 {_cell(item.document_id)} {rank} {score!r} {_cell(name)}\n")
                lines += 1
    return lines


def read_run(path: Path) -> dict[str, tuple[RankedDocument, ...]]:
    """Read a TREC run file. The documents of a question are sorted by decreasing score.

    Raises EvaluationError, with the first invalid line, if the file cannot be read.
    """
    found: dict[str, list[RankedDocument]] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                cells = line.split()
                if not cells:
                    continue
                if len(cells) != 6:
                    raise EvaluationError(f"{path}:{number}: {len(cells)} columns, a TREC run has six")
                found.setdefault(cells[0], []).append(RankedDocument(cells[2], float(cells[4])))
    except (OSError, ValueError) as error:
        raise EvaluationError(f"the run {path} cannot be read ({error})") from error
    return {question: tuple(sorted(items, key=lambda item: -item.score)) for question, items in found.items()}


def _cell(text: str) -> str:
    return "".join(quote(c) if c.isspace() else c for c in text) or "-"
