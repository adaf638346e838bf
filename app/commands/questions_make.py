"""Make questions with reference answers from the documents of a collection.

By rule without a language model; with --model, it writes the questions. A question is kept when the embedded reader
finds its answer in the passage and no other passage contradicts, when it stands alone, and when no other question asks
the same. At least --unanswerable of them are near misses that the documents do not answer. An interrupted command goes
on where it stopped; the file is written whole at the end.
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
    parser.add_argument("--n", type=int, default=200, help="questions wanted (default 200)")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="the question file to write (JSONL)")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default 0)")
    parser.add_argument(
        "--unanswerable", type=float, default=0.2, metavar="SHARE", help="share of near misses (default 0.2)"
    )
    parser.add_argument(
        "--no-round-trip",
        action="store_true",
        help="keep questions that the reader cannot answer too: more of them, and more wrong ones",
    )
    group = parser.add_argument_group("models")
    group.add_argument(
        "--model",
        default=None,
        help="language model that writes: smollm2, FOLDER, FILE.gguf, openai:URL#MODEL (default: by rule)",
    )
    group.add_argument("--model-context", type=int, default=None, help="tokens that a server's model takes (4096)")
    group.add_argument("--precision", choices=PRECISIONS, default=None, help="of its weights")
    group.add_argument("--temperature", type=float, default=None, help="of the model (default 0, greedy)")
    add_encoder(group)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Make the set and say what was made, kept and refused."""
    from dataclasses import replace

    from app.commands.options import open_pipeline
    from app.questions.make import MakeRequest, journal_path, make_questions
    from evaluation.question_sets.making import MakingSettings
    from evaluation.question_sets.quotas import KindShares

    if not 1 <= arguments.n <= _LARGEST:
        raise UsageError(f"--n is {arguments.n}: 1 to {_LARGEST} questions can be made")
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
        output.say("going on where an interrupted command stopped")
    with open_pipeline(arguments) as pipeline, output.progress() as bar:
        result = make_questions(pipeline, request, lambda what, done, total: bar.update(what, done, total))
    _show(result, request.output, time.monotonic() - started, output)
    return EXIT_OK


def _show(result: MakeResult, path: Path, seconds: float, output: Output) -> None:
    from collections import Counter

    generated = result.made
    kept = Counter(candidate.kind for candidate in generated.kept)
    documents = len({candidate.places[0].document_id for candidate in generated.kept})
    if output.as_json:
        output.json(
            {
                "file": str(path),
                "kept": dict(kept),
                "wanted": dict(generated.wanted),
                "made": dict(generated.made),
                "refused": dict(generated.refused),
                "documents": generated.documents,
                "documents_with_questions": documents,
                "documents_without_candidates": generated.without,
                "resumed": result.resumed,
                "seconds": round(seconds, 1),
            }
        )
        return
    wanted = sum(generated.wanted.values())
    output.data(
        f"{len(generated.kept)} of {wanted} questions about {documents} of {generated.documents} documents in {path}"
    )
    for kind, count in generated.wanted.items():
        output.data(f"  {kind}: {kept[kind]} kept of {generated.made[kind]} made ({count} wanted)")
    for reason, count in generated.refused.items():
        output.data(f"  {count} refused: {reason}")
    if generated.without:
        output.data(f"  {generated.without} documents without a sentence that can be asked about")
    if len(generated.kept) < wanted:
        output.say(
            f"{wanted - len(generated.kept)} fewer than wanted: the documents give no more; --no-round-trip keeps more"
            + (
                ", and so does a lower --unanswerable: too few near misses were found, whose share is kept"
                if kept["unanswerable"] < generated.wanted["unanswerable"]
                else ""
            )
        )
    output.say(f"plumbline questions review {path} shows them; plumbline evaluate {path} measures with them")
