"""Export to RAGTruth's format: a folder with response.jsonl (responses with marked spans) and source_info.jsonl.

The spans are the claims that the verifier did not find supported, not annotations by people. Unscored responses have no
label and are left out. Responses without passages are left out too, because RAGTruth's sources are texts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.exports.records import ExportResult, ExportRun, contexts_of, text_of, unsupported_spans, write_jsonl


def ragtruth_rows(run: ExportRun) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return (responses, sources).

    A source holds the passages of one question; arms with the same passages share it.
    """
    sources: dict[tuple[str, tuple[str, ...]], dict[str, Any]] = {}
    numbers: dict[str, int] = {}
    responses = []
    for question, sample in run.answered():
        contexts = tuple(contexts_of(sample))
        if sample.completion is None or sample.evaluation.outcome == "unscored" or not contexts:
            continue
        key = (question.id, contexts)
        if key not in sources:
            n = numbers[question.id] = numbers.get(question.id, 0) + 1
            passages = "\n\n".join(f"passage {i}: {text}" for i, text in enumerate(contexts, start=1))
            sources[key] = {
                "source_id": question.id if n == 1 else f"{question.id}#{n}",
                "task_type": "QA",
                "source": "Plumbline",
                "source_info": {"question": question.text, "passages": passages},
            }
        labels = [
            {
                "start": span["start"],
                "end": span["end"],
                "text": span["text"],
                "label_type": span["label"],
                "meta": "by a verifier, not a person",
            }
            for span in unsupported_spans(sample)
        ]
        responses.append(
            {
                "id": f"{question.id}/{sample.arm}/{sample.sample}",
                "source_id": sources[key]["source_id"],
                "model": sample.arm,
                "labels": labels,
                "split": "test",
                "quality": "good",
                "response": text_of(sample),
            }
        )
    return responses, list(sources.values())


def export_ragtruth(run: ExportRun, folder: Path) -> ExportResult:
    """Write both files into a folder, which is created if necessary.

    Raises EvaluationError with the path, or if no response can be exported.
    """
    responses, sources = ragtruth_rows(run)
    if not responses:
        raise EvaluationError(
            f"no response of run {run.id} was given passages and scored: RAGTruth's format cannot hold the others"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvaluationError(f"cannot create the folder {folder}: {error.strerror}") from error
    write_jsonl(folder / "source_info.jsonl", sources)
    rows = write_jsonl(folder / "response.jsonl", responses)
    left = len(run.samples) - rows
    return ExportResult(rows, left, "they are unscored or were shown no passage" if left else "")
