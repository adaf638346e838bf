"""Rates of a stored run corrected by human labels, for its report, its summary and its gate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.gate import arm_words, summary_figures
from app.labelling.draws import outcome_records
from app.pipeline import Pipeline
from evaluation.correction.corrected_figures import CorrectedFigures, figures_of
from evaluation.correction.label_progress import progress_of
from evaluation.correction.label_store import LabelStore
from evaluation.reports.corrected_view import corrected_rows, without_labels
from evaluation.runs.records import SampleRecord
from evaluation.statistics.estimates import HallucinationEstimate, undefined
from evaluation.statistics.run_summary import RunSummary

QUANTITIES = {"hallucinated": "corrected_hall", "answered": "corrected_hall_answered", "difference": "corrected_diff"}


def label_figures(
    pipeline: Pipeline, run_id: str, samples: Sequence[SampleRecord], summary: RunSummary
) -> CorrectedFigures | None:
    """Return the corrected figures of a run, or None if it has no labels. samples, summary: those of the entire run.

    Figures that cannot be corrected have a reason instead of a value; they raise no error.
    """
    store = LabelStore(pipeline.store)
    stored = store.load_draw(run_id)
    if stored is None:
        return None
    progress = progress_of(stored, store.load(run_id, stored.decoding))
    if not progress.annotators:
        return None
    records = outcome_records([s for s in samples if s.decoding == stored.decoding])
    return figures_of(records, stored, progress, summary=summary)


def corrected_names(words: dict[str, str], pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the names of the corrected figures in conditions. words: name of each arm in conditions. pairs: arms."""
    names = [f"{QUANTITIES[q]}_{word}" for word in words.values() for q in ("hallucinated", "answered")]
    names += [f"{QUANTITIES['difference']}_{words[one]}_{words[two]}" for one, two in pairs]
    if len(words) == 1:
        names += ["corrected_hall_all", "corrected_hall_answered"]
    return tuple(names)


def corrected_estimates(
    figures: CorrectedFigures | None, words: dict[str, str], pairs: Iterable[tuple[str, str]], level: float
) -> dict[str, HallucinationEstimate]:
    """Return the corrected figures by the names of ``corrected_names``.

    A figure that the labels do not support is undefined, with a reason.
    """
    found = dict.fromkeys(
        corrected_names(words, pairs),
        without_labels(level, figures.reason if figures else "no response is labelled: plumbline label RUN"),
    )
    for row in corrected_rows(figures.run) if figures and figures.run else ():
        subject = f"{words[row.arm]}_{words[row.against]}" if row.against else words[row.arm]
        found[f"{QUANTITIES[row.quantity]}_{subject}"] = row.headline
        if len(words) == 1 and not row.against:
            found["corrected_hall_all" if row.quantity == "hallucinated" else "corrected_hall_answered"] = row.headline
    return found


def gate_figures(
    summary: RunSummary, corrected: CorrectedFigures | None, declared: Sequence[tuple[str, str]] = ()
) -> dict[str, HallucinationEstimate]:
    """Return all figures that a condition may name: those of ``summary_figures`` and the corrected ones.

    declared: pairs of arms that the user wants to compare. If a pair has no common question, its difference is
    undefined instead of missing, so that conditions that were valid before the run stay valid.
    """
    words, level = arm_words([arm.arm for arm in summary.arms]), summary.settings.level
    pairs = [(pair.baseline, pair.other) for pair in summary.pairs]
    missing = [pair for pair in declared if pair not in pairs]
    reason = "the two arms have no question on which they can be compared"
    absent = {f"diff_{words[one]}_{words[two]}": undefined(level, reason) for one, two in missing}
    return absent | summary_figures(summary) | corrected_estimates(corrected, words, [*pairs, *missing], level)
