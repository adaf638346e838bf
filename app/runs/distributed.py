"""Runs that use the workers of an executor to generate samples and to score the pairs of the verifier.

The command builds the prompts, searches, compares references and commits. Each worker holds both models, which share
its processors and its part of a GPU.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar, cast

from app.judging.run_judge import ScorerLoader, load_scorer
from app.models.generators import absolute_choice, open_generator
from data.block_work import BlockExecutor, BlockWorkers, WorkerError
from evaluation.runs.cell_order import WorkerGeneration
from evaluation.verifiers.layered_scorer import WrappingScorer, without_reader
from generation.completion import Completion
from generation.generator import GenerationTask, Generator, generate_many
from model.pairs.scoring import Pair, PairScorer

if TYPE_CHECKING:
    from app.pipeline import Pipeline

Model = TypeVar("Model")
Completions = tuple[tuple[Completion, ...], ...]
Scores = tuple[float, ...]
Drawn = Completions | Scores


@dataclass(frozen=True, slots=True)
class GeneratorBlock:
    """The generation tasks of a cell. fingerprint: fingerprint of the generator that built the prompts."""

    tasks: tuple[GenerationTask, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ScorerBlock:
    """Pairs to score in one call.

    name: name of the verifier's scorer. model: model in the form that ``load_scorer`` accepts. network: whether to
    score with the network alone, without the reader of short answers.
    """

    pairs: tuple[Pair, ...]
    name: str
    model: str | None
    network: bool


Block = GeneratorBlock | ScorerBlock


@dataclass(frozen=True, slots=True)
class WorkerModels:
    """Functions with which a worker loads its models.

    generator, scorer: picklable functions that get the device of the worker's machine. device: name of the device;
    "auto" is resolved by the worker.
    """

    generator: Callable[[str], Generator]
    device: str = "auto"
    scorer: ScorerLoader = load_scorer


class RunBlockWorker:
    """Function that processes blocks in a worker. It loads each model when the first block needs it."""

    def __init__(self, models: WorkerModels) -> None:
        self._models = models
        self._scorer: PairScorer | None = None

    def __call__(self, block: Block) -> Drawn:
        """Return the completions of each task, or the score of each pair.

        Raises WorkerError if the worker's model differs from that of the command, and the errors of the models.
        """
        if isinstance(block, GeneratorBlock):
            _check("model", self._generator.fingerprint, block.fingerprint)
            return generate_many(self._generator, block.tasks)
        if self._scorer is None:
            self._scorer = _load("verifier", partial(self._models.scorer, block.model, self._device))
        _check("verifier", self._scorer.name, block.name)
        return (without_reader(self._scorer) if block.network else self._scorer).score(block.pairs)

    @cached_property
    def _device(self) -> str:
        from model.hardware.device import pick_device

        return _load("device", lambda: str(pick_device(self._models.device)))

    @cached_property
    def _generator(self) -> Generator:
        return _load("model", partial(self._models.generator, self._device))


class RunWorkers:
    """The workers of a run, as a context manager that ends them on exit. Thread-safe."""

    def __init__(self, executor: BlockExecutor, models: WorkerModels) -> None:
        """Start the workers, which load models on first use. Raises WorkerError if the executor cannot start them."""
        make: Callable[[], RunBlockWorker] = partial(RunBlockWorker, models)
        self._workers: BlockWorkers[Block, Drawn] = executor.workers(make)
        self._waiting: set[Future[Drawn]] = set()
        self._lock = threading.Lock()
        self._ended = False

    def __enter__(self) -> RunWorkers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._workers.close()

    def stop(self) -> None:
        """Cancel all blocks in progress. Callers that wait for them or submit more get a WorkerError."""
        with self._lock:
            self._ended = True
            waiting = list(self._waiting)
        for future in waiting:
            future.cancel()

    def generation(self, generator: Generator) -> WorkerGeneration:
        """Return the object through which a run generates its cells in these workers.

        generator: the command's generator, which builds the prompts.
        """
        ahead = self._workers.ahead
        return WorkerGeneration(_Queue(self, generator.fingerprint, ahead), 2 * ahead, self.stop)

    def load_scorer(self, model: str | Path | None, device: str) -> PairScorer:
        """Load a scorer whose pairs are scored by the workers. This method is a ScorerLoader.

        The command also loads the scorer, to measure texts. Raises the errors of loading.
        """
        name = None if model is None else str(model)
        folder = Path(name).expanduser() if name else None
        location = str(folder.absolute()) if folder is not None and folder.exists() else name
        return WorkersScorer(load_scorer(model, device), self, location)

    def submit(self, block: Block) -> Future[Drawn]:
        """Submit a block to the workers. Raises WorkerError after ``stop``."""
        with self._lock:
            if self._ended:
                raise WorkerError("the run was stopped: its workers take no more work")
            future = self._workers.submit(block)
            self._waiting.add(future)
        future.add_done_callback(self._done)
        return future

    def _done(self, future: Future[Drawn]) -> None:
        with self._lock:
            self._waiting.discard(future)


class _Pending:
    """See generation.generator.PendingCompletions."""

    def __init__(self, future: Future[Drawn]) -> None:
        self._future = future

    def result(self) -> Completions:
        return cast("Completions", _result(self._future))

    def cancel(self) -> None:
        self._future.cancel()


class _Queue:
    """See generation.generator.QueueingGenerator. parallel: number of blocks that are submitted ahead."""

    def __init__(self, workers: RunWorkers, fingerprint: str, parallel: int) -> None:
        self._workers, self._fingerprint, self.parallel = workers, fingerprint, parallel

    def submit_many(self, tasks: Sequence[GenerationTask]) -> _Pending:
        return _Pending(self._workers.submit(GeneratorBlock(tuple(tasks), self._fingerprint)))


class WorkersScorer(WrappingScorer):
    """A PairScorer that sends the pairs of each call to the workers as one block. It measures texts itself."""

    def __init__(self, scorer: PairScorer, workers: RunWorkers, model: str | None, full_name: str = "") -> None:
        """scorer: the command's scorer. model: model name for the workers. full_name: name of the complete scorer if
        ``scorer`` is only its network, otherwise "".
        """
        super().__init__(scorer)
        self._workers, self._model = workers, model
        self._full_name, self._as_network = full_name or scorer.name, bool(full_name)
        inner = scorer if full_name else without_reader(scorer)
        self._network = self if inner is scorer else WorkersScorer(inner, workers, model, scorer.name)

    @property
    def name(self) -> str:
        """Name of the command's scorer."""
        return self._scorer.name

    @property
    def network(self) -> PairScorer:
        """Scorer of the network alone; this scorer if it has no reader."""
        return self._network

    def score(self, pairs: Sequence[Pair], progress: Callable[[int, int], None] | None = None) -> Scores:
        """Score pairs in the workers (see PairScorer.score). Raises WorkerError if the workers are lost."""
        block = ScorerBlock(tuple(pairs), self._full_name, self._model, self._as_network)
        found = cast("Scores", _result(self._workers.submit(block)))
        if progress is not None:
            progress(len(pairs), len(pairs))
        return found


def run_workers(executor: BlockExecutor | None, pipeline: Pipeline) -> AbstractContextManager[RunWorkers | None]:
    """Return the workers for runs of this pipeline, or a context of None if there is no executor."""
    if executor is None:
        return nullcontext()
    settings = pipeline.settings
    prompt = str(Path(settings.prompt).expanduser().absolute()) if settings.prompt else ""
    choice = absolute_choice(settings.model, pipeline.home)
    opens = partial(_open_generator, choice, precision=settings.precision, prompt=prompt)
    return RunWorkers(executor, WorkerModels(opens, settings.device))


def _open_generator(choice: str, device: str, *, precision: str, prompt: str) -> Generator:
    return open_generator(choice, device=device, precision=precision, prompt=prompt)


def _load(what: str, load: Callable[[], Model]) -> Model:
    try:
        return load()
    except Exception as error:  # the worker is at fault, not the cell
        raise WorkerError(f"a worker cannot open the {what}: {type(error).__name__}: {error}") from error


def _check(what: str, there: str, here: str) -> None:
    if there != here:
        raise WorkerError(
            f"a worker's {what} is {there}, the command's is {here}: all machines need the same files, and the same "
            "precision and kind of device (give --precision and --device where they differ)"
        )


def _result(future: Future[Drawn]) -> Drawn:
    try:
        return future.result()
    except CancelledError as error:
        raise WorkerError("the run was stopped before its workers were done") from error
