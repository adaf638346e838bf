"""Evaluate a reader or verifier, shipped or external, on a file, with confidence intervals.

NAME is "verifier", "reader" or "decoder" (the shipped ones), "verifier-network" (the verifier without the reader that
it uses for short answers), a baseline ("token-overlap", "minilm-cosine"), a folder written by ``plumbline train``, a
Hugging Face folder (a sequence classifier is a verifier, a decoder is a reader), or OWNER/NAME of a sequence classifier
on the hub, which is downloaded.

The layout of FILE is detected. For a verifier: JSONL of {"evidence", "claim", "supported", "question", "source",
"group"}, or RAGTruth's layout (a folder, or response.jsonl with source_info.jsonl in the same folder). A RAGTruth
response gets the support of its worst sentence, in that sentence's best evidence window. A verifier that was trained on
answers reads the sentences together, unless --alone is given. For a reader: JSONL of {"question", "context", "answers",
"answerable", "title", "source"}, or SQuAD's JSON (v1.1, v2.0). JSONL may be compressed (.gz, .bz2).

Figures are shares in [0, 1] with 95 % intervals, by group or article. Verifiers: AUROC, balanced accuracy and F1 of
"hallucinated" at the threshold 0.5, calibration error (15 bins of equal mass), window-claim pairs per second. Readers:
F1 and exact match as in SQuAD's script, for answerable questions (a refusal scores 0); the share of unanswerable
questions that were refused; answers per second. Examples that cannot be scored are counted as unscored, and the exit
code is 4.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands.options import add_device, add_limit, add_seed, add_skip_bad, device_name
from app.console import Bar, Output
from app.errors import EXIT_OK, EXIT_PARTIAL, UsageError
from app.log_lines import LogLines

if TYPE_CHECKING:
    from app.models.evaluate import ModelEvaluation, ProgressCallbacks


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME", help="verifier, reader, decoder, a baseline, a folder or a hub ID")
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="file to evaluate on")
    parser.add_argument(
        "--format", choices=("pairs", "reading", "squad", "ragtruth"), help="force a layout instead of detecting it"
    )
    parser.add_argument(
        "--split", help='split of RAGTruth\'s layout, or "all" (default "test" if there is one, otherwise all)'
    )
    add_limit(parser, "examples")
    add_skip_bad(parser)
    add_seed(parser, "seed of the intervals")
    add_device(parser)
    readers = parser.add_argument_group("readers")
    readers.add_argument(
        "--texts",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="documents with the passages of questions that refer to them by excerpt",
    )
    readers.add_argument(
        "--max-tokens", type=int, default=32, metavar="N", help="maximum length of an answer, in tokens (default 32)"
    )
    verifiers = parser.add_argument_group("verifiers")
    verifiers.add_argument(
        "--words",
        action="store_true",
        help="for RAGTruth: also mark weak words (up to 24 more pairs for each sentence with low support)",
    )
    verifiers.add_argument(
        "--alone",
        action="store_true",
        help="read each claim separately, even if the verifier can read several together",
    )
    order = verifiers.add_mutually_exclusive_group()
    order.add_argument(
        "--premise-first", dest="claim_first", action="store_false", help="the model reads evidence, claim (default)"
    )
    order.add_argument("--claim-first", action="store_true", help="the model reads claim, evidence")
    parser.set_defaults(claim_first=False)
    verifiers.add_argument(
        "--supported-label", metavar="LABEL", help="label that means supported, if its name does not show it"
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Evaluate the model and print the figures."""
    from app.models.evaluate import EvaluationRequest, ModelRequest, evaluate_model, to_json
    from app.models.evaluation_data import DataRequest

    for name in ("limit", "max_tokens"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name.replace('_', '-')} is {value}: it must be at least 1")
    if arguments.seed < 0:
        raise UsageError(f"--seed is {arguments.seed}: it must not be negative")
    device = device_name(arguments)
    request = EvaluationRequest(
        ModelRequest(arguments.name, device, arguments.claim_first, arguments.supported_label),
        DataRequest(
            arguments.data,
            arguments.format,
            arguments.split,
            arguments.limit,
            arguments.skip_bad,
            tuple(arguments.texts),
        ),
        words=arguments.words,
        alone=arguments.alone,
        max_tokens=arguments.max_tokens,
        seed=arguments.seed,
    )
    with output.progress() as bar:
        result = evaluate_model(request, _watch(bar))
    _notify(result, output)
    if output.as_json:
        output.json(to_json(result, request))
    else:
        _show(result, output)
    return EXIT_PARTIAL if result.unscored else EXIT_OK


def _watch(bar: Bar | LogLines) -> ProgressCallbacks:
    from app.models.evaluate import ProgressCallbacks
    from evaluation.detection.support import SupportProgress

    def supports(progress: SupportProgress) -> None:
        bar.update("examples", progress.statements, progress.total)
        bar.update("windows", progress.pairs, None)

    return ProgressCallbacks(
        supports,
        lambda done, total: bar.update("low sentences", done, total),
        lambda done, total: bar.update("answers", done, total),
    )


def _notify(result: ModelEvaluation, output: Output) -> None:
    """Print notes about the data on stderr."""
    for note in result.data.notes:
        output.info(note)
    if result.data.skipped:
        output.info(f"{len(result.data.skipped)} bad lines were skipped, the first: {result.data.skipped[0]}")
    for reason, count in result.unscored:
        output.info(f"{count} unscored: {reason}")


def _show(result: ModelEvaluation, output: Output) -> None:
    from app.models.tables import reader_table, spans_table, speed, verifier_table

    if result.reader is not None:
        output.out.print(reader_table(result.reader))
        output.data(
            "refused right: share of the unanswerable questions; refused wrong: share of the answerable ones; n: "
            "answerable + unanswerable"
        )
        output.data(speed(result.reader.answers_per_second, "answers"))
        if (risk := result.reader.risk) is not None:
            output.data(
                "selective answering by confidence (risk: 1 - F1; answering an unanswerable question counts 1):"
            )
            for point in (risk.points[i] for i in (1, 3, 5, 7, 9)):
                sure = f"confidence at least {point.confidence:.2f}"
                output.data(f"  {point.coverage:4.0%} of its answers: risk {point.risk:.1%}, {sure}")
            output.data(
                f"  area {risk.area:.3f}; perfect order {risk.best_area:.3f}, random order {risk.random_area:.3f}"
            )
            output.data(f"calibration error of an answer's probability {result.reader.confidence_error:.1%}")
        if result.reader.misfits:
            output.data(f"{result.reader.misfits} questions are too long for the reader and count as wrong answers")
    if (report := result.verifier) is not None:
        output.out.print(verifier_table(report))
        if report.spans is not None:
            output.out.print(spans_table(report))
            how = "together" if result.together else "each separately"
            output.data(f"the sentences of a response were read {how}")
            output.data(
                f"{report.abstained} responses decline to answer and count as supported; split {result.data.split}"
            )
        if (best := report.table.best_threshold) is not None:
            output.data(
                f"best threshold {best.threshold:.3f}: balanced accuracy {best.balanced_accuracy:.1%}; "
                "chosen on the same data, so optimistic"
            )
        output.data(speed(report.pairs_per_second, "pairs"))
    output.data(f"{result.model} {result.fingerprint[:12]}")
