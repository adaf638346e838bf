"""Generate questions with reference answers from the documents of a collection.

Questions are written by rule, or by a language model with --model. A question is kept if the embedded reader finds its
answer in the passage, no other passage contradicts it, it can be understood without its passage, and no other question
is a duplicate. At least the share --unanswerable are near misses that the documents do not answer. An interrupted
command continues where it stopped; the file is written when all questions are done.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.questions.make import MakeResult

_LARGEST = 100_000


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.choices import PRECISIONS
    from app.commands.options import add_encoder

    parser.add_argument("collection", metavar="COLLECTION", help="an indexed collection")
    parser.add_argument("--n", type=int, default=200, help="number of questions (default 200)")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="the question file to write (JSONL)")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers (default 0)")
    parser.add_argument(
        "--unanswerable",
        type=float,
        default=0.2,
        metavar="SHARE",
        help="share of near misses without an answer (default 0.2)",
    )
    parser.add_argument(
        "--no-round-trip",
        action="store_true",
        help="also keep questions that the reader cannot answer: more questions, and more wrong ones",
    )
    group = parser.add_argument_group("models")
    group.add_argument(
        "--model",
        default=None,
        help="language model that writes the questions: smollm2, FOLDER, FILE.gguf, openai:URL#MODEL (default: by "
        "rule)",
    )
    group.add_argument(
        "--model-context", type=int, default=None, help="context length of a server's model, in tokens (4096)"
    )
    group.add_argument("--precision", choices=PRECISIONS, default=None, help="precision of its weights")
    group.add_argument("--temperature", type=float, default=None, help="of the model (default 0, greedy)")
    add_encoder(group)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Generate the set and print how many questions were generated, kept and refused."""
    from dataclasses import replace

    from app.commands.options import open_pipeline
    from app.questions.make import MakeRequest, journal_path, make_questions
    from evaluation.question_sets.making import MakingSettings
    from evaluation.question_sets.quotas import KindShares

    if not 1 <= arguments.n <= _LARGEST:
        raise UsageError(f"--n is {arguments.n}: it must be from 1 to {_LARGEST}")
    if arguments.seed < 0:
        raise UsageError(f"--seed is {arguments.seed}: it must not be negative")
    if not 0 <= arguments.unanswerable < 1:
        raise UsageError(f"--unanswerable is {arguments.unanswerable}: it must be a share, at least 0 and below 1")
    temperature = arguments.temperature or 0.0
    if not 0 <= temperature <= 10:
        raise UsageError(f"--temperature is {temperature}: 0 (greedy) to 10")
    if arguments.model is not None and not arguments.model.strip():
        raise UsageError("--model is empty: name a language model, or leave it out")
    if arguments.output.exists() and not arguments.force:
        raise UsageError(f"{arguments.output} exists: --force replaces it, or name another file")
    plain = KindShares()
    answerable = 1 - plain.unanswerable
    shares = {kind: w * (1 - arguments.unanswerable) / answerable for kind, w in plain.weights.items()}
    shares["unanswerable"] = arguments.unanswerable
    settings = MakingSettings(arguments.n, arguments.seed, replace(plain, **shares))
    request = MakeRequest(
        arguments.collection,
        arguments.output,
        settings,
        arguments.model or "",
        not arguments.no_round_trip,
        temperature,
    )
    started = time.monotonic()
    if journal_path(arguments.output).exists():
        output.say("continuing an interrupted command")
    with open_pipeline(arguments) as pipeline, output.progress() as bar:
        result = make_questions(pipeline, request, lambda what, done, total: bar.update(what, done, total))
    _show(result, request.output, time.monotonic() - started, output)
    return EXIT_OK


def _show(result: MakeResult, path: Path, seconds: float, output: Output) -> None:
    from collections import Counter

    made = result.made
    kept = Counter(candidate.kind for candidate in made.kept)
    documents = len({candidate.places[0].document_id for candidate in made.kept})
    if output.as_json:
        output.json(
            {
                "file": str(path),
                "kept": dict(kept),
                "wanted": dict(made.wanted),
                "made": dict(made.made),
                "refused": dict(made.refused),
                "documents": made.documents,
                "documents_with_questions": documents,
                "documents_without_candidates": made.without,
                "resumed": result.resumed,
                "seconds": round(seconds, 1),
            }
        )
        return
    wanted = sum(made.wanted.values())
    output.data(f"{len(made.kept)} of {wanted} questions about {documents} of {made.documents} documents in {path}")
    for kind, count in made.wanted.items():
        output.data(f"  {kind}: {kept[kind]} kept of {made.made[kind]} generated ({count} wanted)")
    for reason, count in made.refused.items():
        output.data(f"  {count} refused: {reason}")
    if made.without:
        output.data(f"  {made.without} documents have no sentence to ask about")
    if len(made.kept) < wanted:
        output.say(
            f"{wanted - len(made.kept)} fewer than requested: the documents yield no more; --no-round-trip keeps more"
            + (
                ", and so does a lower --unanswerable: too few near misses were found to keep the requested share"
                if kept["unanswerable"] < made.wanted["unanswerable"]
                else ""
            )
        )
    output.say(f"plumbline questions review {path} shows them; plumbline evaluate {path} measures with them")
