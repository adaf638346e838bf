"""Collect the contents of a stored run's report: the summary, the settings, and every answer with its evidence."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version

from app.errors import AppError
from app.labelling.figures import label_figures
from app.pipeline import Pipeline
from app.runs.analysis import AnalysisOptions, analyse_further
from app.runs.citations import run_citations
from app.runs.evaluate import LEFT_OUT
from app.runs.names import run_title
from data.questions import Question
from evaluation.analysis.abstentions import Abstentions, abstention_line, count_abstentions
from evaluation.analysis.policy_figures import policy_figures
from evaluation.reports.entailment_figures import entailment_figures
from evaluation.reports.report_data import (
    ConfigSection,
    ReportArm,
    ReportChunk,
    ReportData,
    ReportQuestion,
    ReportSample,
    RunConfig,
    left_out_note,
)
from evaluation.robustness.breakdown import arm_breakdown
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_store import RunInfo, RunStore
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.measure import Resampler
from evaluation.statistics.summary import summarise
from evaluation.verifiers.routing import excluded_from_differences, judged_by_entailment
from evaluation.verifiers.short_answer_scorer import read_by

_OWN_JUDGE = (
    "Without references, short answers of the embedded reader are judged partly by the reader's own network: "
    "the likelihood of the answer given the evidence counts in addition to the verifier's network. This ranks "
    "answers better than the reader alone, but many confident errors of the reader still pass. Label some "
    "answers (plumbline label) to correct the rates."
)


def report_data(
    pipeline: Pipeline,
    run_id: str,
    options: AnalysisOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ReportData:
    """Return the contents of the report of a stored run. options, progress: see app.runs.analysis.analyse_further.

    Raises EvaluationError for an unknown run, AppError for a run without a finished sample, and the errors of the
    analysis.
    """
    options = options or AnalysisOptions()
    runs = RunStore(pipeline.store)
    info = runs.load_run(run_id)
    every = runs.load_samples(info.id, every_decoding=True)
    samples = [s for s in every if s.decoding == info.config.decoding.label]
    questions = runs.load_questions(info.id)
    order = [arm.name for arm in info.config.arms]
    in_order = sorted(samples, key=lambda s: order.index(s.arm))  # tables show the arms in the order of the run
    records = [OutcomeRecord(s.question_id, s.arm, s.sample, s.evaluation.outcome) for s in in_order]
    if not records:
        raise AppError(f"run {run_id} has no finished sample yet: run the same plumbline evaluate again")
    excluded = {q.id for q in questions if excluded_from_differences(info.config.verifier, q)}
    summary = summarise(OutcomeTable.from_records(records), excluded=excluded)
    notes = []
    if info.status != "finished":
        notes.append(f"This run is not complete ({info.status}): the estimates use the samples committed so far.")
    grouped: dict[tuple[str, str], list[SampleRecord]] = {}
    for sample in samples:
        grouped.setdefault((sample.question_id, sample.arm), []).append(sample)
    shown = tuple(
        ReportQuestion(
            question.id,
            question.text,
            question.kind,
            question.answerable,
            question.references,
            tuple(_shown_arm(arm, grouped[question.id, arm]) for arm in order if (question.id, arm) in grouped),
            judged_by_entailment(info.config.verifier, question),
            question.id in excluded,
        )
        for question in questions
        if any((question.id, arm) in grouped for arm in order)
    )
    if (seen := reviewed_line(questions)) is not None:
        notes.append(seen)
    if left_out := dict(info.labels).get(LEFT_OUT):
        notes.append(f"{left_out}.")
    abstentions = abstentions_of(in_order, questions)
    notes.extend(line for found in abstentions if (line := abstention_line(found)))
    threshold = float(dict(info.labels).get("threshold", 0.5))
    figures = entailment_figures(shown, order, threshold, summary.settings.level)
    not_compared = sum(q.excluded for q in shown)
    if figures is not None and figures.judged + not_compared < figures.questions:
        by_references = figures.questions - figures.judged - not_compared
        were = "question was judged by its" if by_references == 1 else "questions were judged by their"
        notes.append(
            f"{by_references} {were} reference answers, the other {figures.judged} by the documents of the trusted "
            "collection: each question the same way in every arm."
        )
    if not_compared:
        notes.append(left_out_note(not_compared))
    pairs = [(p.baseline, p.other) for p in summary.pairs]
    analysed = analyse_further(pipeline, info, every, questions, pairs, summary.settings, options, progress)
    judges = (*analysed.judges, *([info.config.verifier] if figures is not None else []))
    if any(read_by(judge, info.config.generator) for judge in judges):
        notes.append(_OWN_JUDGE)
    cited = run_citations(pipeline, info, in_order, questions, summary.settings, progress) if options.citations else ()
    by_id = {question.id: question for question in questions}
    resampler = Resampler(summary.settings)
    breakdown = tuple(
        arm_breakdown(arm, [s for s in in_order if s.arm == arm], by_id, resampler)
        for arm in order
        if any(s.arm == arm for s in in_order)
    )
    if info.config.grid:
        notes.append(
            f"The run has {len(info.config.decodings)} decoding settings. Rates, differences and answers are those of "
            f"the headline setting ({info.config.decoding.label}); the others are in the section on decoding."
        )
    return ReportData(
        _report_config(info, figures is not None),
        summary,
        shown,
        (*notes, *analysed.notes),
        figures,
        corrected=label_figures(pipeline, info.id, samples, summary),
        analysis=analysed.found,
        abstentions=abstentions,
        citations=cited,
        breakdown=breakdown,
        policies=policy_figures(info.config.arms, info.config.verifier, in_order, summary),
    )


def reviewed_line(questions: Sequence[Question]) -> str | None:
    """Return a sentence that says how many questions were reviewed by people; None if none were."""
    reviewed = [q for q in questions if q.reviewed_by]
    people = sorted({name for q in reviewed for name in q.reviewed_by})
    if not reviewed:
        return None
    return f"{len(reviewed)} of {len(questions)} questions were reviewed by a person ({', '.join(people)})."


def abstentions_of(samples: Iterable[SampleRecord], questions: Sequence[Question]) -> tuple[Abstentions, ...]:
    """Return the numbers of right and wrong abstentions of each arm.

    A question counts as answerable by its mark, its references and its gold passages.
    """
    answered: dict[str, bool | None] = {
        q.id: False if not q.answerable else True if q.references or q.evidence or q.relevant_document_ids else None
        for q in questions
    }
    return count_abstentions((s.arm, s.evaluation, answered.get(s.question_id)) for s in samples)


def _shown_arm(arm: str, samples: Sequence[SampleRecord]) -> ReportArm:
    ordered = sorted(samples, key=lambda s: s.sample)
    chunks = tuple(
        ReportChunk(
            part.number,
            part.retrieved.chunk.document_id,
            part.retrieved.chunk.title,
            part.retrieved.chunk.start + part.start,
            part.retrieved.chunk.start + part.end,
            part.text,
            part.retrieved.rank,
            part.retrieved.score,
        )
        for part in ordered[0].chunks
    )
    return ReportArm(
        arm,
        tuple(
            ReportSample(
                s.sample,
                s.completion.text if s.completion else "",
                s.evaluation.outcome,
                s.seed,
                s.evaluation.reason,
                s.evaluation.verdicts,
                s.completion.citations if s.completion else (),
                observed=tuple(seen.name for seen in s.observed if seen.happened),
            )
            for s in ordered
        ),
        chunks,
        ordered[0].question_text,
    )


def _report_config(info: RunInfo, entailed: bool) -> RunConfig:
    config, labels = info.config, dict(info.labels)
    decoding = config.decoding
    sections = (
        ConfigSection(
            "Run",
            (
                ("run", info.id),
                ("plumbline", config.version),
                ("questions (SHA-256)", config.questions_sha256),
                ("arms", "; ".join(f"{arm.name} {arm.settings}".strip() for arm in config.arms)),
                ("samples per question and arm", str(config.samples)),
                ("seed", str(config.seed)),
                ("verifier", config.verifier),
                *(
                    (name, labels[name])
                    for name in ("threshold", "trusted", "trusted generation", "verifier model")
                    if labels.get(name)
                ),
            ),
        ),
        ConfigSection(
            "Generation",
            (
                ("model", labels.get("model", "")),
                *((("prompt", labels["prompt"]),) if labels.get("prompt") else ()),
                ("model fingerprint", config.generator),
                *((("decoding grid", "; ".join(d.label for d in config.decodings)),) if config.grid else ()),
                ("temperature", str(decoding.temperature)),
                ("top_k", str(decoding.top_k or "all")),
                ("top_p", str(decoding.top_p)),
                ("max_tokens", str(decoding.max_tokens)),
                ("stop", ", ".join(map(repr, decoding.stop)) or "none"),
            ),
        ),
        ConfigSection(
            "Retrieval",
            (
                ("collection", labels.get("collection", "") or "none"),
                *(
                    (("collection published", labels["collection published"]),)
                    if labels.get("collection published")
                    else ()
                ),
                ("index generation", config.generation or "none"),
                ("encoder fingerprint", config.encoder or "none"),
            ),
        ),
        ConfigSection(
            "Machine",
            (
                ("python", platform.python_version()),
                *((name, version(name)) for name in ("torch", "sentence-transformers", "faiss-cpu", "bm25s")),
            ),
        ),
    )
    finished = info.finished_at or info.created_at
    return RunConfig(
        title=run_title(info),
        created=finished.isoformat(timespec="seconds"),
        command=labels.get("command", ""),
        searched_collection=config.generation or None,
        # References belong to the questions, not to a collection.
        reference_collection=labels.get("trusted generation") if entailed else None,
        sections=sections,
    )
