"""Compare two runs on their shared questions, and return the comparison as a separate report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evaluation.errors import EvaluationError
from evaluation.reports.entailment_figures import entailment_figures
from evaluation.reports.report_data import (
    ConfigSection,
    EntailmentFigures,
    ReportArm,
    ReportData,
    ReportQuestion,
    left_out_note,
)
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.summary import summarise

_MUST_DIFFER = frozenset({"run"})


def compare_runs(run: ReportData, against: ReportData, run_name: str, against_name: str) -> ReportData:
    """Compare ``run`` with ``against``. Differences are against minus run, positive if ``run`` hallucinates less.

    run_name, against_name: short names of the runs, which are appended to the names of the arms.

    A question is shared if both runs have its ID with the same text. Arms with the same name are compared. If no name
    is shared and each run has one arm, these two are compared.

    Raises EvaluationError if no question or no arm can be compared.
    """
    against_questions = {q.id: q for q in against.questions}
    run_questions = {q.id: q for q in run.questions}
    shared = [q for q in run.questions if q.id in against_questions and against_questions[q.id].text == q.text]
    reworded = sum(i in against_questions and against_questions[i].text != q.text for i, q in run_questions.items())
    if not shared:
        more = f" ({reworded} questions have the same ID but different text)" if reworded else ""
        raise EvaluationError(
            f"the runs {run_name} and {against_name} share no question{more}: compare runs of the same questions"
        )
    pairs = _arm_pairs(run, against, run_name, against_name)
    named = [(f"{old} @{against_name}", f"{new} @{run_name}") for new, old in pairs]
    questions = tuple(_joined(q, against_questions[q.id], pairs, run_name, against_name) for q in shared)
    records = [
        OutcomeRecord(q.id, arm.arm, s.sample, s.outcome)
        for name in (name for pair in named for name in pair)
        for q in questions
        for arm in q.arms
        if arm.arm == name
        for s in arm.samples
    ]
    table = OutcomeTable.from_records(records)
    excluded = {q.id for q in shared if q.excluded or against_questions[q.id].excluded}
    summary = summarise(table, named[0][0], named, run.summary.settings, excluded)
    only_run, only_against = (
        run_questions.keys() - against_questions.keys(),
        against_questions.keys() - run_questions.keys(),
    )
    sentence = (
        f"{len(shared)} questions are shared and compared; {len(only_run)} are only in {run_name}, "
        f"{len(only_against)} only in {against_name}"
        + (f", {reworded} have the same ID but different text and are left out." if reworded else ".")
    )
    notes = [sentence, *_differences(run, against, run_name, against_name)]
    if excluded:
        notes.append(left_out_note(len(excluded)))
    references = sum(q.references != against_questions[q.id].references for q in shared)
    if references:
        notes.append(f"{references} shared questions have different reference answers in the two runs.")
    config = replace(
        run.config,
        title=f"{run.config.title} against {against.config.title}",
        command=f"{run.config.command}\n{against.config.command}",
        sections=(*_sections(run, run_name), *_sections(against, against_name)),
    )
    figures = _figures(run, against, questions, [name for pair in named for name in pair])
    return ReportData(config, summary, questions, tuple(notes), figures, comparison=sentence.rstrip("."))


def _arm_pairs(run: ReportData, against: ReportData, run_name: str, against_name: str) -> list[tuple[str, str]]:
    """Return (arm of run, arm of against) for each comparison."""
    new, old = [a.arm for a in run.summary.arms], [a.arm for a in against.summary.arms]
    shared = [(arm, arm) for arm in new if arm in old]
    if not shared and len(new) == len(old) == 1:
        return [(new[0], old[0])]
    if not shared:
        raise EvaluationError(
            f"the runs share no arm: {run_name} has {', '.join(new)}, {against_name} has {', '.join(old)}"
        )
    return shared


def _joined(
    question: ReportQuestion,
    against_question: ReportQuestion,
    pairs: Iterable[tuple[str, str]],
    run_name: str,
    against_name: str,
) -> ReportQuestion:
    arms: list[ReportArm] = []
    for new, old in pairs:
        arms.extend(replace(a, arm=f"{old} @{against_name}") for a in against_question.arms if a.arm == old)
        arms.extend(replace(a, arm=f"{new} @{run_name}") for a in question.arms if a.arm == new)
    entailed, excluded = (
        question.by_entailment and against_question.by_entailment,
        question.excluded or against_question.excluded,
    )
    return replace(question, arms=tuple(arms), by_entailment=entailed, excluded=excluded)


def _entries(data: ReportData) -> dict[str, str]:
    return {name: value for section in data.config.sections for name, value in section.entries}


def _differences(run: ReportData, against: ReportData, run_name: str, against_name: str) -> list[str]:
    """Return notes on the differences between the runs' settings, with a warning if the verification differs."""
    new, old = _entries(run), _entries(against)
    names = [n for n in dict.fromkeys((*old, *new)) if old.get(n) != new.get(n) and n not in _MUST_DIFFER]
    if not names:
        return ["The two runs have the same settings."]
    notes = ["They differ in " + "; ".join(f"{n}: {old.get(n, '-')} → {new.get(n, '-')}" for n in names) + "."]
    judged = [n for n in ("verifier", "threshold", "trusted generation") if n in names]
    if judged:
        notes.append(
            f"The runs were judged differently (by {', '.join(judged)}). This may explain a part of every difference, "
            "or all of it."
        )
    return notes


def _sections(data: ReportData, name: str) -> tuple[ConfigSection, ...]:
    return tuple(replace(section, title=f"{section.title} @{name}") for section in data.config.sections)


def _figures(
    run: ReportData, against: ReportData, questions: tuple[ReportQuestion, ...], arms: list[str]
) -> EntailmentFigures | None:
    """Return the rates by threshold if both runs were judged by entailment with the same threshold, else None."""
    if run.entailment is None or against.entailment is None:
        return None
    if run.entailment.threshold != against.entailment.threshold:
        return None
    return entailment_figures(questions, arms, run.entailment.threshold, run.summary.settings.level)
