"""Export of the documents shown in an arm's prompts as a TREC run, each at the rank of its first chunk.

Chunks that did not fit the prompt are left out, because a run stores only their IDs.
"""

from __future__ import annotations

from pathlib import Path

from evaluation.errors import EvaluationError
from evaluation.exports.records import ExportResult, ExportRun
from evaluation.retrieval.rankings import RankedDocument, ranked_documents, write_run


def shown_documents(run: ExportRun, arm: str) -> dict[str, tuple[RankedDocument, ...]]:
    """Return the documents shown in this arm's prompts, by question. They are equal for all samples of a question.

    Questions without any document are left out.
    """
    found: dict[str, tuple[RankedDocument, ...]] = {}
    for sample in run.samples:
        if sample.arm == arm and sample.chunks and sample.question_id not in found:
            ordered = sorted((part.retrieved for part in sample.chunks), key=lambda r: r.rank)
            found[sample.question_id] = ranked_documents(ordered)
    return found


def retrieving_arm(run: ExportRun) -> str:
    """Return the arm to export: ``rag``, else the only arm with passages.

    Raises EvaluationError if no arm or several other arms have passages.
    """
    found = tuple(dict.fromkeys(s.arm for s in run.samples if s.chunks))
    if "rag" in found:
        return "rag"
    if len(found) == 1:
        return found[0]
    if not found:
        raise EvaluationError(f"no prompt of run {run.id} was shown a passage: a TREC run needs retrieved passages")
    raise EvaluationError(
        f"run {run.id} has passages in {', '.join(found)}: choose one of these arms", parameter="arms"
    )


def export_trec(run: ExportRun, path: Path) -> ExportResult:
    """Write the TREC run of ``retrieving_arm``. Raises EvaluationError with the path."""
    arm = retrieving_arm(run)
    shown = shown_documents(run, arm)
    try:
        lines = write_run(path, shown, arm)
    except OSError as error:
        raise EvaluationError(f"cannot write {path}: {error.strerror}. Free space, or name another file") from error
    left = len({s.question_id for s in run.samples if s.arm == arm} - shown.keys())
    return ExportResult(lines, left, "no passage was shown for these questions" if left else "")
