"""Evaluation runs, wired: arms over a collection, the experiment, its summary and its report's contents."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from app.errors import AppError
from app.pipeline import Pipeline
from data.questions import Question
from evaluation.reports.report_data import (
    ConfigSection,
    ReportData,
    RunConfig,
    ShownArm,
    ShownChunk,
    ShownQuestion,
    ShownSample,
)
from evaluation.runs.arms import Arm, ClosedBook, ModeSearch, Oracle, Rag
from evaluation.runs.experiment import Progress, RunResult, configure, run_experiment
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import Decoding
from evaluation.runs.run_store import RunInfo, RunStore
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.summary import summarise
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from retrieval.chunks import Chunk
from retrieval.retriever import Fusion, Mode, Retriever

ARMS = ("closed_book", "rag", "oracle")


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What a run compares. collection: None takes the only one; unused when closed_book is the only arm."""

    questions: tuple[Question, ...]
    arms: tuple[str, ...] = ARMS
    collection: str | None = None
    samples: int = 3
    k: int = 4
    mode: Mode = "hybrid"
    fusion: Fusion = "minmax"
    decoding: Decoding = field(default_factory=lambda: Decoding(max_tokens=32))
    seed: int = 0


class _Passages:
    """A collection's chunks by document."""

    def __init__(self, retriever: Retriever) -> None:
        self._by_document: dict[str, list[Chunk]] = {}
        for chunk in retriever.chunks:
            self._by_document.setdefault(chunk.document_id, []).append(chunk)

    def chunks_of(self, document_id: str) -> tuple[Chunk, ...]:
        return tuple(self._by_document.get(document_id, ()))


def evaluate(
    pipeline: Pipeline,
    plan: EvaluationPlan,
    *,
    name: str = "",
    command: str = "",
    progress: Callable[[Progress], None] | None = None,
    limit: int | None = None,
    retry_failed: bool = False,
) -> RunResult:
    """Run, or go on with, the experiment a plan describes; see evaluation.runs.experiment.run_experiment.

    Raises AppError for an arm that does not exist, and what retrieval, generation and evaluation raise.
    """
    unknown = [arm for arm in plan.arms if arm not in ARMS]
    if unknown:
        raise AppError(f"there is no arm {unknown[0]!r}: choose from {', '.join(ARMS)}")
    retriever = None
    collection = ""
    if set(plan.arms) - {"closed_book"}:
        collection = pipeline.collection_name(plan.collection)
        retriever = pipeline.retriever(collection)
    arms = [_arm(arm, plan, retriever) for arm in plan.arms]
    verifier = ReferenceVerifier()
    config = configure(
        plan.questions,
        arms,
        pipeline.generator,
        verifier,
        samples=plan.samples,
        decoding=plan.decoding,
        seed=plan.seed,
        version=version("plumbline-rag"),
        generation=retriever.generation_hash if retriever else "",
        encoder=pipeline.encoder.fingerprint if retriever else "",
    )
    labels = (("collection", collection), ("model", pipeline.generator.name), ("command", command))
    return run_experiment(
        config,
        plan.questions,
        arms,
        pipeline.generator,
        verifier,
        RunStore(pipeline.store),
        name=name,
        labels=labels,
        progress=progress,
        limit=limit,
        retry_failed=retry_failed,
    )


def _arm(name: str, plan: EvaluationPlan, retriever: Retriever | None) -> Arm:
    if name == "closed_book" or retriever is None:
        return ClosedBook()
    search = ModeSearch(retriever, plan.mode, plan.fusion)
    if name == "rag":
        return Rag(search, plan.k, search.settings)
    return Oracle(_Passages(retriever), plan.k, search)


def full_run_id(pipeline: Pipeline, run_id: str) -> str:
    """The id of the run that ``run_id``, perhaps only its beginning, names. Raises EvaluationError."""
    return RunStore(pipeline.store).load_run(run_id).id


def report_data(pipeline: Pipeline, run_id: str) -> ReportData:
    """Everything a report of a stored run shows.

    Raises EvaluationError for an unknown run, AppError for one without a finished sample.
    """
    runs = RunStore(pipeline.store)
    info = runs.load_run(run_id)
    samples = runs.load_samples(info.id)
    questions = runs.load_questions(info.id)
    order = [arm.name for arm in info.config.arms]
    in_order = sorted(samples, key=lambda s: order.index(s.arm))  # tables show the arms in the run's own order
    records = [OutcomeRecord(s.question_id, s.arm, s.sample, s.evaluation.outcome) for s in in_order]
    if not records:
        raise AppError(f"run {run_id} has no finished sample yet: run the same plumbline evaluate again")
    summary = summarise(OutcomeTable.from_records(records))
    notes = []
    if info.status != "finished":
        notes.append(f"This run is not complete ({info.status}): the estimates rest on what was committed so far.")
    grouped: dict[tuple[str, str], list[SampleRecord]] = {}
    for sample in samples:
        grouped.setdefault((sample.question_id, sample.arm), []).append(sample)
    shown = tuple(
        ShownQuestion(
            question.id,
            question.text,
            question.kind,
            question.answerable,
            question.references,
            tuple(_shown_arm(arm, grouped[question.id, arm]) for arm in order if (question.id, arm) in grouped),
        )
        for question in questions
        if any((question.id, arm) in grouped for arm in order)
    )
    return ReportData(_report_config(info), summary, shown, tuple(notes))


def _shown_arm(arm: str, samples: Sequence[SampleRecord]) -> ShownArm:
    ordered = sorted(samples, key=lambda s: s.sample)
    chunks = tuple(
        ShownChunk(
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
    return ShownArm(
        arm,
        tuple(
            ShownSample(
                s.sample,
                s.completion.text if s.completion else "",
                s.evaluation.outcome,
                s.seed,
                s.evaluation.reason,
                s.evaluation.verdicts,
                s.completion.citations if s.completion else (),
            )
            for s in ordered
        ),
        chunks,
    )


def _report_config(info: RunInfo) -> RunConfig:
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
            ),
        ),
        ConfigSection(
            "Generation",
            (
                ("model", labels.get("model", "")),
                ("model fingerprint", config.generator),
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
        title=info.name or f"Run {info.id}",
        created=finished.isoformat(timespec="seconds"),
        command=labels.get("command", ""),
        searched_collection=config.generation or None,
        reference_collection=None,  # references belong to the questions, not to a collection
        sections=sections,
    )
