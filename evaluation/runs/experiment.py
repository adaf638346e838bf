"""Run experiments: draw n samples of every question in every arm, judge them, and commit them cell by cell.

A cell is one question in one arm, sampled by all decodings of the run from one prompt. Its samples and verdicts are
committed in one transaction. A run that is stopped at any moment therefore has complete cells only, and the next call
continues with the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial

from data.errors import DataError
from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.runs.arms import Arm, prepare_arm
from evaluation.runs.cell_order import DrawnCell, WorkerGeneration, drawn_cells
from evaluation.runs.cells import CellDrawer
from evaluation.runs.committer import Committer
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import ArmSpec, Decoding, RunConfig, hash_questions
from evaluation.runs.run_store import Cell, RunStore
from evaluation.verifiers.verifier import Verifier
from generation.generator import Generator as TextGenerator

FAILURES_IN_A_ROW = 5
"""Number of consecutive cells with generator failures after which the generator counts as down."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run, in samples.

    done: number of committed samples.
    resumed: number of samples in ``done`` that an earlier call committed.
    rate: samples per second of this call; None before the first.
    """

    done: int
    total: int
    resumed: int
    rate: float | None

    @property
    def remaining_s(self) -> float | None:
        """Estimated remaining time in seconds; None if unknown."""
        return (self.total - self.done) / self.rate if self.rate else None


@dataclass(frozen=True, slots=True)
class RunResult:
    """Result of a call of ``run_experiment``, in samples.

    total: number of samples of the complete run.
    drawn: number of samples drawn by this call.
    resumed: number of samples that were committed before this call.
    failed: number of samples in ``drawn`` that a failure made unscored.
    """

    run_id: str
    total: int
    drawn: int
    resumed: int
    failed: int

    @property
    def complete(self) -> bool:
        """Whether all samples of the run are committed."""
        return self.drawn + self.resumed == self.total


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a call that do not change the results of the run.

    name: display name of the run; its ID by default.
    labels: information for readers that does not determine the run.
    limit: maximum number of cells in this call; None for all.
    retry_failed: whether to delete the cells first in which search, generator or verifier failed.
    """

    name: str = ""
    labels: Sequence[tuple[str, str]] = ()
    limit: int | None = None
    retry_failed: bool = False


def configure(
    questions: Sequence[Question],
    arms: Sequence[Arm],
    generator: TextGenerator,
    verifier: Verifier,
    *,
    samples: int,
    decoding: Decoding,
    seed: int,
    version: str,
    generation: str = "",
    encoder: str = "",
    grid: Sequence[Decoding] = (),
) -> RunConfig:
    """Create the RunConfig of a run. The parameters and errors are those of RunConfig.

    samples: number of samples per question and arm.
    generation: hash of the searched index; "" without retrieval.
    encoder: fingerprint of the encoder; "" without retrieval.
    """
    return RunConfig(
        questions_sha256=hash_questions(questions),
        arms=tuple(ArmSpec(arm.name, arm.settings) for arm in arms),
        samples=samples,
        decoding=decoding,
        seed=seed,
        generator=generator.fingerprint,
        verifier=verifier.name,
        version=version,
        generation=generation,
        encoder=encoder,
        grid=tuple(grid),
    )


def run_experiment(
    config: RunConfig,
    questions: Sequence[Question],
    arms: Sequence[Arm],
    generator: TextGenerator,
    verifier: Verifier,
    runs: RunStore,
    options: RunOptions | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
    worker_generation: WorkerGeneration | None = None,
) -> RunResult:
    """Draw, judge and commit the missing cells of a run. Call it again to resume after an interruption.

    progress: called at the start and after every cell.
    clock: returns the current time in seconds.
    worker_generation: workers that generate the samples, several cells at a time. The records are the same. The
        verifier must be thread-safe.

    A question that an arm, the generator or the verifier cannot handle is recorded as unscored with the reason.

    Raises EvaluationError if config and arguments differ, if questions are unusable, or if the generator fails in
    FAILURES_IN_A_ROW consecutive cells (these are not stored). KeyboardInterrupt, DataError, WorkerError and the errors
    of an arm's ``prepare`` pass through. Committed cells remain.
    """
    options = options or RunOptions()
    _check(config, questions, arms, generator, verifier)
    finished_at = runs.finished_at(config.run_id)
    run_id = runs.create_or_open_run(config, questions, options.name, options.labels)
    try:
        if options.retry_failed:
            runs.drop_failed(run_id)
        committed = runs.committed(run_id)
        pending = [(q, arm) for q in questions for arm in arms if Cell(q.id, arm.name) not in committed]
        pending = pending[: options.limit]
        each = config.samples_per_cell
        total = len(questions) * len(arms) * each
        tally = _Tally(total, len(committed) * each, progress, clock)
        tally.report()
        for arm in arms:
            prepare_arm(arm, [q for q, a in pending if a is arm], questions)
        cells = CellDrawer(config, generator, verifier, worker_generation.queue if worker_generation else None)
        with closing(drawn_cells(cells, pending, worker_generation)) as drawn:
            _commit(run_id, drawn, runs, tally)
    except BaseException as error:
        with suppress(DataError):  # the database may be what failed
            runs.set_status(run_id, "failed" if isinstance(error, Exception) else "interrupted")
        raise
    result = RunResult(run_id, total, tally.drawn, tally.resumed, tally.failed)
    # A call that draws nothing leaves the time unchanged.
    runs.set_status(run_id, "finished" if result.complete else "interrupted", None if result.drawn else finished_at)
    return result


def _check(
    config: RunConfig, questions: Sequence[Question], arms: Sequence[Arm], generator: TextGenerator, verifier: Verifier
) -> None:
    if not questions:
        raise EvaluationError("there are no questions to evaluate: give a question file that is not empty")
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise EvaluationError(f"the question id {question.id!r} occurs twice: give each question its own ID")
        if len(question.id) > 255:
            raise EvaluationError(f"the question id {question.id[:40]!r}... is longer than 255 characters: shorten it")
        seen.add(question.id)
    settings = (
        ("question set", config.questions_sha256, hash_questions(questions)),
        ("arms", config.arms, tuple(ArmSpec(arm.name, arm.settings) for arm in arms)),
        ("generator", config.generator, generator.fingerprint),
        ("verifier", config.verifier, verifier.name),
    )
    for name, configured, actual in settings:
        if configured != actual:
            raise EvaluationError(f"the run is configured for {name} {configured}, but {actual} was given")


class _Tally:
    """Counts of drawn and failed samples, reported to ``progress``."""

    def __init__(
        self, total: int, resumed: int, progress: Callable[[Progress], None] | None, clock: Callable[[], float]
    ) -> None:
        self.total, self.resumed, self.drawn, self.failed = total, resumed, 0, 0
        self._progress, self._clock, self._started = progress, clock, clock()

    def add(self, records: Sequence[SampleRecord]) -> None:
        self.drawn += len(records)
        self.failed += sum(bool(r.failure) for r in records)
        self.report()

    def report(self) -> None:
        if self._progress is not None:
            elapsed = self._clock() - self._started
            rate = self.drawn / elapsed if self.drawn and elapsed > 0 else None
            self._progress(Progress(self.resumed + self.drawn, self.total, self.resumed, rate))


def _commit(run_id: str, drawn: Iterable[DrawnCell], runs: RunStore, tally: _Tally) -> None:
    """Commit the cells. Cells with a failed generator wait for the next success, so that an outage stores none."""
    waiting: list[tuple[SampleRecord, ...]] = []
    with Committer(partial(runs.save_samples, run_id), tally.add) as committer:
        for question, arm, records in drawn:
            if records[0].failure == "generator":
                waiting.append(records)
                if len(waiting) >= FAILURES_IN_A_ROW:
                    raise EvaluationError(
                        f"the generator failed on {len(waiting)} cells in a row, last on question {question.id!r} in "
                        f"arm {arm.name}: {records[0].evaluation.reason}. Committed cells are kept: repair the "
                        "generator and run the command again to continue"
                    )
                continue
            committer.put((*waiting, records))
            waiting.clear()
        committer.put(waiting)
