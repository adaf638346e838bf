"""Collect the contents of a report of scored answers, with each answer and its contexts, grouped by question."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Literal

from app.scoring.corrected import rates_note
from app.scoring.result import ScoredAnswer, ScoreResult
from evaluation.correction.corrected_figures import CorrectedFigures
from evaluation.reports.entailment_figures import entailment_figures
from evaluation.reports.report_data import (
    ConfigSection,
    ReportArm,
    ReportChunk,
    ReportData,
    ReportQuestion,
    ReportSample,
    RunConfig,
    ScoredFigures,
)


def score_report(
    result: ScoreResult,
    *,
    title: str,
    command: str,
    created: datetime | None = None,
    corrected: CorrectedFigures | None = None,
) -> ReportData:
    """Return the contents of a report of scored answers.

    command: the command that the report shows. created: time of the report, by default now. corrected: figures
    corrected by labels; None without labels.
    """
    arms = tuple(a.arm for a in result.summary.arms)
    by_group: dict[str, list[ScoredAnswer]] = {}
    for answer in result.answers:
        by_group.setdefault(answer.group, []).append(answer)
    questions = tuple(_question(group, answers, arms, result) for group, answers in by_group.items())
    figures = None
    if result.threshold is not None:
        figures = entailment_figures(questions, arms, result.threshold, result.summary.settings.level)
    detection = result.detection.overall if result.detection else None
    scored = ScoredFigures(
        result.measure,
        result.kind,
        sum(a.record.hallucinated is not None for a in result.answers),
        detection.auroc if detection else None,
        detection.balanced_accuracy if detection else None,
    )
    skipped = (f"{len(result.file.skipped)} lines could not be read and are excluded from all figures.",)
    notes = (*result.notes, *(skipped if result.file.skipped else ()), rates_note(corrected))
    config = RunConfig(
        title=title,
        created=(created or datetime.now(UTC)).isoformat(timespec="seconds"),
        command=command,
        searched_collection=None,
        reference_collection=None,
        sections=_sections(result),
    )
    return ReportData(config, result.summary, questions, notes, figures, scored, corrected=corrected)


def _question(group: str, answers: list[ScoredAnswer], arms: tuple[str, ...], result: ScoreResult) -> ReportQuestion:
    first = answers[0].record
    references = tuple(dict.fromkeys(r for a in answers for r in a.record.references))
    shown = tuple(_arm(arm, own) for arm in arms if (own := [a for a in answers if a.record.arm == arm]))
    return ReportQuestion(group, first.question, first.kind, True, references, shown, result.threshold is not None)


def _arm(arm: str, answers: list[ScoredAnswer]) -> ReportArm:
    """Return the answers of one system. Contexts that all answers share are shown once."""
    lists = dict.fromkeys(a.record.contexts for a in answers)
    chunks: list[ReportChunk] = []
    for contexts in lists:
        owners = ", ".join(str(a.sample + 1) for a in answers if a.record.contexts == contexts)
        for n, text in enumerate(contexts, start=1):
            title = "" if len(lists) == 1 else f"of answer {owners}"
            chunks.append(ReportChunk(len(chunks) + 1, f"context {n}", title, 0, len(text), text, n, 0.0))
    return ReportArm(arm, tuple(_sample(a) for a in answers), tuple(chunks))


def _sample(answer: ScoredAnswer) -> ReportSample:
    labelled = answer.record.hallucinated
    label: Literal["", "hallucinated", "supported"] = ""
    if labelled is not None:
        label = "hallucinated" if labelled else "supported"
    evaluation = answer.evaluation
    return ReportSample(
        answer.sample,
        answer.record.answer,
        evaluation.outcome,
        None,
        evaluation.reason,
        evaluation.verdicts,
        weak=answer.weak,
        label=label,
    )


def _sections(result: ScoreResult) -> tuple[ConfigSection, ...]:
    threshold = "" if result.threshold is None else repr(result.threshold)
    return (
        ConfigSection(
            "Answers",
            (
                ("format", result.file.format),
                *((f"{part} read from", name) for part, name in result.file.columns),
                ("answers", str(len(result.answers))),
                ("lines left out", str(len(result.file.skipped))),
            ),
        ),
        ConfigSection(
            "Judging",
            (
                ("plumbline", version("plumbline-rag")),
                ("measure", result.measure),
                ("judged by", result.kind),
                ("verifier", result.verifier),
                *((("threshold", threshold),) if threshold else ()),
            ),
        ),
        ConfigSection("Machine", (("python", platform.python_version()), ("torch", version("torch")))),
    )
