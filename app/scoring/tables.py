"""Further output of ``score``: what the rates measure, and the verifier's quality against the labels."""

from __future__ import annotations

from app.scoring.result import ScoreResult
from evaluation.reports.report_view import score


def headline(result: ScoreResult) -> str:
    """Return a line that says what the rates measure."""
    by = {
        ("faithfulness", "contexts"): "faithfulness: each answer against its own contexts",
        ("factuality", "references"): "factuality: each answer against its references",
        ("factuality", "references and contexts"): (
            "factuality: each answer against its references, its other statements against its contexts"
        ),
        ("factuality", "facts"): "factuality: each answer against a table of facts",
        ("factuality", "labels"): "human labels of each answer",
    }[result.measure, result.kind]
    answers, questions = len(result.answers), len({a.group for a in result.answers})
    return (
        f"{by}; {answers} {'answer' if answers == 1 else 'answers'} to {questions} "
        f"{'question' if questions == 1 else 'questions'}, verifier {result.verifier}"
    )


def detection_lines(result: ScoreResult) -> tuple[str, ...]:
    """Return lines with the verifier's quality against the labels; empty without labels."""
    if result.detection is None:
        return ()
    overall = result.detection.overall
    labelled = sum(a.record.hallucinated is not None for a in result.answers)
    marked = sum(a.record.hallucinated is True for a in result.answers)
    return (
        f"labels: {labelled} answers, {marked} of them hallucinated; the verifier against them:",
        f"  AUROC {score(overall.auroc)}, balanced accuracy {score(overall.balanced_accuracy)}, "
        f"F1 of hallucinated {score(overall.f1_hallucinated)}",
    )
