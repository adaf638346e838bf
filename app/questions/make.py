"""Generate a question set from a collection: write candidates, check and draw them, and write one file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from app.errors import AppError
from app.models.generators import SupportsClose, open_generator, open_reader
from app.pipeline import Pipeline
from app.questions.sources import source_texts
from app.questions.writing import WriterSettings, by_model, by_rule
from data.atomic_write import atomic_write
from evaluation.question_sets.drawing import Check, GeneratedSet, QuestionSetSettings, make_set
from evaluation.question_sets.journal import Journal
from evaluation.question_sets.record import question_records
from evaluation.question_sets.round_trip import RoundTrip
from generation.generator import Generator
from generation.question_sets.by_model import TEMPLATE
from generation.question_sets.candidate import Candidate

_DOCUMENTS_A_QUESTION = 3
_FEWEST_DOCUMENTS = 300
# Number of answers per requested question that a model writes questions for, because many candidates are rejected.
_ANSWERS_A_QUESTION = 5


class Progress(Protocol):
    """A progress callback. what: unit that is counted. done, total: the current and the final count."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Report the progress."""
        ...


@dataclass(frozen=True, slots=True)
class MakeRequest:
    """Settings of a question set to generate.

    collection: name of a published collection. output: file to write. model: model that writes the questions, named as
    in --model; "" writes them by rule. round_trip: whether a reader must find the answer of each question. temperature:
    sampling temperature of the model.
    """

    collection: str
    output: Path
    settings: QuestionSetSettings = field(default_factory=QuestionSetSettings)
    model: str = ""
    round_trip: bool = True
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class MakeResult:
    """The generated set. resumed: number of results that were reused from an interrupted command."""

    made: GeneratedSet
    resumed: int


class NoCheck:
    """A check that accepts every candidate."""

    def refusals(self, candidates: Sequence[Candidate]) -> Sequence[str]:
        """Return an empty reason for each candidate."""
        return ["" for _ in candidates]


def journal_path(output: Path) -> Path:
    """Return the path of the journal from which an interrupted command resumes."""
    return output.with_name(f".{output.name}.progress.jsonl")


def make_questions(pipeline: Pipeline, request: MakeRequest, progress: Progress) -> MakeResult:
    """Generate a question set and write it atomically.

    Raises AppError if no question can be generated, EvaluationError if the journal has other settings, and the errors
    of retrieval and generation.
    """
    collection = pipeline.collection_name(request.collection)
    settings = request.settings
    if request.output.is_dir() or not request.output.absolute().parent.is_dir():
        raise AppError(f"--output {request.output}: name a file in a folder that exists")
    most = max(_FEWEST_DOCUMENTS, _DOCUMENTS_A_QUESTION * settings.n)
    sources = source_texts(pipeline.store, collection, most, settings.seed)
    search = pipeline.search(collection)
    reader = open_reader(None, pipeline.device, pipeline.models) if request.round_trip else None
    generation = search.retriever.generation_hash
    with ExitStack() as stack:
        writer = _writer(pipeline, request, stack)
        provenance = {
            "collection": collection,
            "generation": generation,
            "seed": settings.seed,
            "version": version("plumbline-rag"),
            "round_trip": reader.fingerprint if reader is not None else "",
        }
        fixed = {
            **provenance,
            "n": settings.n,
            "model": writer.fingerprint if writer else "",
            "shares": settings.shares.weights,
        }
        path = journal_path(request.output)
        refused: Counter[str] = Counter()
        journal = stack.enter_context(closing(Journal(path, {**fixed, "temperature": request.temperature})))
        base: Iterable[tuple[str, list[Candidate]]]
        if writer is None:
            base = by_rule(sources, partial(progress, "documents read"))
        else:
            answers = -(-_ANSWERS_A_QUESTION * settings.n // len(sources))
            writing = WriterSettings(answers, request.temperature, settings.seed)
            base = by_model(sources, writer, writing, journal, refused, partial(progress, "documents asked about"))
        texts = {source.document_id: source for source in sources}
        check: Check = RoundTrip(reader, search, texts) if reader is not None else NoCheck()
        keep = partial(progress, "questions kept")
        question_set = make_set(sources, base, check, pipeline.encoder, settings, journal, refused, keep)
    if not question_set.kept:
        path.unlink(missing_ok=True)
        raise AppError(_nothing(collection, question_set))
    records = question_records(question_set.kept, provenance)
    with atomic_write(request.output) as part:
        part.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    path.unlink(missing_ok=True)
    return MakeResult(question_set, journal.resumed)


def _writer(pipeline: Pipeline, request: MakeRequest, stack: ExitStack) -> Generator | None:
    if not request.model:
        return None
    if request.model == "reader":
        raise AppError(
            "--model reader: the embedded reader answers and cannot write questions; leave --model out, or "
            "name a language model (smollm2, a checkpoint folder, openai:URL#MODEL)"
        )
    from importlib import resources

    template = resources.files("generation").joinpath("prompts").joinpath(TEMPLATE)
    with resources.as_file(template) as file:
        opened = open_generator(
            request.model,
            device=pipeline.device,
            api_key=pipeline.settings.model_key.get_secret_value(),
            context_length=pipeline.settings.model_context,
            parallel=pipeline.settings.model_parallel,
            precision=pipeline.settings.precision,
            home=pipeline.home,
            models=pipeline.models,
            prompt=str(file),
        )
    if isinstance(opened, SupportsClose):
        stack.callback(opened.close)
    return opened


def _nothing(collection: str, question_set: GeneratedSet) -> str:
    refused = sum(question_set.refused.values())
    if not sum(question_set.made.values()) and refused:
        reasons = ", ".join(f"{count} because {reason}" for reason, count in question_set.refused.items())
        return (
            f"the model wrote no usable question about the {question_set.documents} documents of {collection!r}: of "
            f"{refused} texts none was kept ({reasons}); name a larger model, or none, so that rules write questions"
        )
    if not sum(question_set.made.values()):
        return (
            f"no question could be generated from the {question_set.documents} documents of {collection!r}: the rules "
            "need English prose and found no usable sentence (they do not use tables, lists and other languages); "
            "write questions yourself, or name a --model that knows the language"
        )
    reasons = ", ".join(f"{count} because {reason}" for reason, count in question_set.refused.items())
    return f"no question was kept of {sum(question_set.made.values())} generated from {collection!r}: {reasons}"
