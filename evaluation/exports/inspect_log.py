"""Export to a JSON log of Inspect AI: version, status, eval, results and samples with scores and metadata.

The log has the fields that Inspect's viewer and ``read_eval_log`` require, filled from a run that Inspect did not
execute. A sample in Inspect is one question in one epoch, so each arm's questions are separate samples, named ``id
[arm]``.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from data.questions import Question
from evaluation.exports.records import ExportResult, ExportRun, contexts_of, text_of, unsupported_spans, write_lines
from evaluation.outcomes import OUTCOMES
from evaluation.runs.records import SampleRecord

_VALUES = {"supported": "C", "hallucinated": "I", "abstained": "N", "unscored": "N"}
"""Inspect's letter for each outcome: correct, incorrect, no answer. The score's metadata has the outcome itself."""


def inspect_log(run: ExportRun) -> dict[str, Any]:
    """Return the log as one JSON document."""
    several = len(run.arms) > 1
    samples = [_sample(question, sample, several) for question, sample in run.answered()]
    tally = Counter(s.evaluation.outcome for s in run.samples)
    total = len(run.samples)
    metrics: dict[str, Any] = (
        {o: {"name": o, "value": tally[o] / total, "options": {}} for o in OUTCOMES} if total else {}
    )
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "run_id": run.id,
            "created": run.created,
            "task": run.name,
            "task_id": run.id,
            "task_version": 0,
            "model": run.model,
            "dataset": {"name": run.name, "samples": len(run.questions)},
            "config": {"epochs": max((s.sample for s in run.samples), default=0) + 1},
            "metadata": {"command": run.command, "verifier": run.verifier, "written_by": "plumbline"},
        },
        "results": {
            "total_samples": total,
            "completed_samples": sum(s.completion is not None for s in run.samples),
            "scores": [{"name": "plumbline", "scorer": run.verifier, "metrics": metrics}],
        },
        "samples": samples,
    }


def export_inspect(run: ExportRun, path: Path) -> ExportResult:
    """Write the log. Raises EvaluationError naming the path."""
    log = inspect_log(run)
    write_lines(path, [json.dumps(log, ensure_ascii=False, allow_nan=False, indent=1), "\n"])
    return ExportResult(len(log["samples"]))


def _sample(question: Question, sample: SampleRecord, several: bool) -> dict[str, Any]:
    text, evaluation = text_of(sample), sample.evaluation
    stop = sample.completion.finish_reason if sample.completion else "unknown"
    return {
        "id": f"{question.id} [{sample.arm}]" if several else question.id,
        "epoch": sample.sample + 1,
        "input": question.text,
        "target": list(question.references) or "",
        "messages": [{"role": "user", "content": question.text}, {"role": "assistant", "content": text}],
        "output": {
            "model": "",
            "choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": stop}],
            "completion": text,
        },
        "scores": {
            "plumbline": {
                "value": _VALUES[evaluation.outcome],
                "answer": text,
                "explanation": evaluation.reason,
                "metadata": {
                    "outcome": evaluation.outcome,
                    "unsupported": unsupported_spans(sample),
                    "supports": [v.support for v in evaluation.verdicts],
                },
            }
        },
        "metadata": {
            "arm": sample.arm,
            "group": question.id,
            "kind": question.kind,
            "contexts": contexts_of(sample),
            "seed": sample.seed,
        },
    }
