"""Export to Ragas: one JSON object per response, as ``ragas.EvaluationDataset.from_jsonl`` reads them.

Fields of Ragas: user_input, response, retrieved_contexts, reference. The other fields (id, arm, sample, group,
references, outcome) are Plumbline's; Ragas ignores them, and scoring reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluation.exports.records import ExportResult, ExportRun, contexts_of, text_of, write_jsonl


def ragas_records(run: ExportRun) -> Iterator[dict[str, Any]]:
    """Yield one record per generated response."""
    for question, sample in run.answered():
        if sample.completion is None:
            continue
        record: dict[str, Any] = {
            "user_input": question.text,
            "response": text_of(sample),
            "retrieved_contexts": contexts_of(sample),
        }
        if question.references:
            record |= {"reference": question.references[0], "references": list(question.references)}
        yield record | {
            "id": question.id,
            "arm": sample.arm,
            "sample": sample.sample,
            "group": question.id,
            "outcome": sample.evaluation.outcome,
        }


def export_ragas(run: ExportRun, path: Path) -> ExportResult:
    """Write the records as JSON Lines. Raises EvaluationError with the path."""
    missing = sum(s.completion is None for s in run.samples)
    reason = "nothing was generated for them" if missing else ""
    return ExportResult(write_jsonl(path, ragas_records(run)), missing, reason)
