"""Write scored answers as JSON (a document of figures, or one line per answer), and read the lines again."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, cast, get_args

from app.errors import AppError
from app.scoring.result import ScoredAnswer, ScoreResult
from data.jsonl import read_jsonl
from data.refused import Refused, shown
from evaluation.outcomes import OUTCOMES, AnswerEvaluation, Claim, Evidence, Label, Outcome, Verdict

LABELS_NOTE = (
    "These rates are the verifier's: they inherit its errors and are not corrected. A corrected rate needs "
    "labelled answers."
)


def result_json(result: ScoreResult) -> dict[str, Any]:
    """Return all figures as one JSON document. Undefined values are null, never NaN."""
    summary = result.summary
    return {
        "kind": "score",
        "measure": result.measure,
        "judged_by": result.kind,
        "verifier": result.verifier,
        "threshold": result.threshold,
        "answers": len(result.answers),
        "questions": len({a.group for a in result.answers}),
        "format": result.file.format,
        "columns": dict(result.file.columns),
        "skipped": list(result.file.skipped),
        "unscored": result.unscored,
        "unscored_reasons": dict(result.reasons),
        "verifier_failures": result.failed,
        "abstentions": [asdict(arm) for arm in result.abstentions],
        "corrected": False,
        "summary": summary.to_json(),
        "detection": None if result.detection is None else _detection(result),
        "notes": [*result.notes, LABELS_NOTE],
    }


def answer_json(answer: ScoredAnswer) -> dict[str, Any]:
    """Return an answer and its verdicts as JSON. ``start`` and ``end`` are character offsets in the answer."""
    record, evaluation = answer.record, answer.evaluation
    return {
        "id": record.id,
        "arm": record.arm,
        "sample": record.sample or answer.sample,
        "group": answer.group,
        "question": record.question,
        "answer": record.answer,
        "outcome": evaluation.outcome,
        "support": answer.support,
        "reason": evaluation.reason,
        "unsupported": [
            {"start": v.claim.start, "end": v.claim.end, "text": v.claim.text, "label": v.label, "support": v.support}
            for v in answer.unsupported
        ],
        "weak": [{"start": w.start, "end": w.end, "gain": w.gain} for w in answer.weak],
        "verdicts": [_verdict(v) for v in evaluation.verdicts],
        "hallucinated_label": record.hallucinated,
        "where": record.where,
        "key": answer.key,
    }


class AnswerLines:
    """A file with one JSON line per answer.

    Lines are appended while answers are judged, and rewritten in order at the end. After an interruption, the next call
    resumes from the stored evaluations (``known``).
    """

    def __init__(self, path: Path) -> None:
        """Open the file. Raises AppError if it has other content or cannot be written."""
        self._path = path
        self.known = known_answers(path)
        try:
            if self.known:
                _drop_cut_line(path)
            self._file: IO[str] | None = path.open("a", encoding="utf-8")
        except OSError as error:
            raise AppError(f"cannot write {shown(path)}: {error.strerror}; does its folder exist?") from error

    def keep(self, answers: Sequence[ScoredAnswer]) -> None:
        """Append answers and flush the file."""
        if self._file is None:
            raise ValueError("the file is closed")
        self._file.writelines(_line(a) for a in answers)
        self._file.flush()

    def finish(self, answers: Sequence[ScoredAnswer]) -> None:
        """Replace the appended lines by all answers in order. Raises AppError if the file cannot be written."""
        self.close()
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("x", encoding="utf-8") as file:
                file.writelines(_line(a) for a in answers)
            temporary.replace(self._path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise AppError(f"cannot write {shown(self._path)}: {error.strerror}") from error

    def close(self) -> None:
        """Close the file. Appended lines remain."""
        if self._file is not None:
            self._file.close()
            self._file = None


def known_answers(path: Path) -> dict[str, AnswerEvaluation]:
    """Return the evaluations in a file of ``AnswerLines`` by answer key; empty if there is no file.

    An incomplete last line, which an ended process left, is skipped. Raises AppError if the file has other content.
    """
    if not path.exists():
        return {}
    found: dict[str, AnswerEvaluation] = {}
    lines = list(read_jsonl(path)) if path.is_file() else [Refused(shown(path), "it is not a file")]
    for index, line in enumerate(lines):
        if isinstance(line, Refused):
            if index == len(lines) - 1 and found:
                break
            if line.reason == "the file is empty":
                return {}
            raise AppError(f"{line} in {shown(path)}, which would be overwritten: name another file for --answers")
        try:
            key, evaluation = _read(line.fields)
        except (KeyError, TypeError, ValueError) as error:
            raise AppError(
                f"{line.where} was not written by plumbline score ({error}): name another file for --answers, it would "
                "be overwritten"
            ) from error
        found[key] = evaluation
    return found


def _drop_cut_line(path: Path) -> None:
    """Remove an incomplete last line, so that appended text is not joined to it."""
    with path.open("r+b") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


def _line(answer: ScoredAnswer) -> str:
    return json.dumps(answer_json(answer), ensure_ascii=False, allow_nan=False) + "\n"


def _read(fields: dict[str, Any]) -> tuple[str, AnswerEvaluation]:
    if fields["outcome"] not in OUTCOMES:
        raise ValueError(f"outcome {fields['outcome']!r}")
    verdicts = tuple(_verdict_of(v) for v in fields["verdicts"])
    return str(fields["key"]), AnswerEvaluation(cast(Outcome, fields["outcome"]), verdicts, str(fields["reason"]))


def _verdict(v: Verdict) -> dict[str, Any]:
    return {
        "claim": {"text": v.claim.text, "start": v.claim.start, "end": v.claim.end},
        "label": v.label,
        "support": v.support,
        "reason": v.reason,
        "evidence": [asdict(e) for e in v.evidence],
        "verifier": v.verifier,
    }


def _verdict_of(fields: dict[str, Any]) -> Verdict:
    if fields["label"] not in get_args(Label):
        raise ValueError(f"label {fields['label']!r}")
    return Verdict(
        Claim(**fields["claim"]),
        cast(Label, fields["label"]),
        fields["support"],
        fields["reason"],
        tuple(Evidence(**e) for e in fields["evidence"]),
        fields["verifier"],
    )


def _detection(result: ScoreResult) -> dict[str, Any]:
    if result.detection is None:
        raise ValueError("there are no labels")
    overall = asdict(result.detection.overall)
    if result.threshold != 0.5:  # support was rescaled around the threshold (or is not a probability at all)
        overall.pop("calibration_error")
    by_arm = [{"arm": s.source, "auroc": asdict(s.scores.auroc), "n": s.scores.n} for s in result.detection.sources]
    unscored = dict(result.detection.unscored)
    return {"labelled": sum(a.record.hallucinated is not None for a in result.answers), **overall} | {
        "arms": by_arm,
        "unscored_reasons": unscored,
    }
