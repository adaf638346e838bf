"""Judge whether evidence supports a claim; print support, label, the best evidence sentence and the weak words.

``plumbline verify --evidence FILE "claim"`` judges one claim. FILE is a document (text, Markdown, PDF, ...; repeatable)
or - for standard input. ``plumbline verify --pairs FILE.jsonl`` (or -) judges {"claim", "evidence", "question", "id"}
line by line. The evidence is a text or a list of texts. With --json it prints one JSON object per line.

Support is in [0, 1]. A claim is supported if its support reaches the threshold. Below the threshold, the claim is
contradicted if a rule finds that the best evidence states otherwise (another value, a negation, swapped roles), and
unverifiable if not. A claim of several sentences gets the support of its worst sentence. With --fail-unsupported the
exit code is 3 if a claim is not supported. The exit code is 4 if some claims are unscored.

--facts SOURCE checks claims against a table of subject, relation and value. It needs no evidence, and another value
contradicts the claim. --judge MODEL asks a language model about the evidence. See docs/verifiers.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands.choices import CLAIM_VERIFIERS
from app.console import Output
from app.errors import EXIT_OK, EXIT_PARTIAL, EXIT_THRESHOLD, AppError, UsageError

if TYPE_CHECKING:
    from app.judging.answer_judge import Choice
    from app.judging.verification import CheckedClaim, ClaimChecker, ClaimPair
    from data.block_work import BlockWorkers
    from evaluation.outcomes import Verdict
    from evaluation.verifiers.evidence import EvidenceText

    ClaimWorkers = BlockWorkers[Sequence[ClaimPair], tuple[CheckedClaim, ...]]


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.engine_options import add_engine
    from app.commands.options import add_device, add_skip_bad
    from app.commands.verifier_options import add_verifier

    parser.add_argument("claim", nargs="?", metavar="CLAIM", help="claim to judge")
    parser.add_argument(
        "--evidence",
        action="append",
        default=[],
        metavar="FILE",
        help="document, or - for standard input; repeatable",
    )
    parser.add_argument("--question", default="", help="question that the claim answers")
    parser.add_argument(
        "--unanswerable",
        action="store_true",
        help="state that the documents do not answer --question; the reader then does not judge a short answer",
    )
    parser.add_argument("--pairs", metavar="FILE", help="JSONL of claim and evidence, or - for standard input")
    parser.add_argument("--words", action="store_true", help="also find weak words in --pairs (slower)")
    add_skip_bad(parser)
    add_verifier(parser, CLAIM_VERIFIERS, "entailment; facts and judge need --facts and --judge")
    add_device(parser)
    add_engine(parser)
    parser.add_argument("--fail-unsupported", action="store_true", help="exit with code 3 if a claim is not supported")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Judge one claim, or all pairs of a file."""
    from app.commands.engine_options import block_executor, check_distributable, judging_device
    from app.commands.verifier_options import check_threshold, verifier_choice, verifier_source
    from app.judging.answer_judge import JudgePlan
    from app.judging.distributed import open_claim_checker
    from app.judging.verification import ClaimChecker
    from data.block_work import LocalExecutor

    check_threshold(arguments)
    if (arguments.pairs is None) == (arguments.claim is None):
        raise UsageError('give a claim and its evidence (--evidence FILE "claim"), or --pairs FILE.jsonl, not both')
    if arguments.pairs is not None and (arguments.evidence or arguments.question or arguments.unanswerable):
        raise UsageError(
            "--pairs has its own evidence, questions and marks: omit --evidence, --question and --unanswerable"
        )
    if arguments.unanswerable and not arguments.question:
        raise UsageError("--unanswerable marks a question: give --question, too")
    choice, source = verifier_choice(arguments), verifier_source(arguments)
    check_distributable(arguments, choice)
    if arguments.engine == "ray" and arguments.pairs is None:
        raise UsageError("--engine ray is for many claims: give them with --pairs, or omit it")
    if choice == "labels":
        raise UsageError("--labels judges labelled answers (plumbline score --labels), not single claims")
    if arguments.claim is not None and not arguments.evidence and choice != "facts":
        raise UsageError("--evidence FILE is missing: name the evidence for the claim")
    if arguments.claim is not None and not any(c.isalnum() for c in arguments.claim):
        raise UsageError(f"the claim {arguments.claim!r} has no letter and no digit")
    evidence = tuple(_evidence(arguments.evidence)) if arguments.claim is not None else ()
    device = judging_device(arguments)
    kind: Choice = "facts" if choice == "facts" else "judge" if choice == "judge" else "entailment"
    plan = JudgePlan(kind, "contexts", arguments.verifier_model, arguments.threshold, device, source)
    with block_executor(arguments, output) as executor:
        if executor is not None:
            workers = executor.workers(partial(open_claim_checker, plan, words=arguments.words))
            return _pairs(arguments, output, workers, needs_evidence=True)
        checker = ClaimChecker(plan)
        if arguments.claim is not None:
            return _one(arguments, output, checker, evidence)
        workers = LocalExecutor().workers(lambda: partial(checker.check, words=arguments.words))
        return _pairs(arguments, output, workers, needs_evidence=checker.needs_evidence)


def _one(
    arguments: argparse.Namespace, output: Output, checker: ClaimChecker, evidence: tuple[EvidenceText, ...]
) -> int:
    from app.judging.verification import ClaimPair, checked_json

    pair = ClaimPair(arguments.claim, evidence, arguments.question, answerable=not arguments.unanswerable)
    checked = checker.check([pair], words=True)[0]
    if output.as_json:
        output.json(checked_json(checked) | {"verifier": checker.name, "threshold": arguments.threshold})
    else:
        for line in _lines(checked):
            output.data(line)
    return _code(arguments, [checked])


def _pairs(arguments: argparse.Namespace, output: Output, workers: ClaimWorkers, *, needs_evidence: bool) -> int:
    from app.judging.verification import AT_ONCE, ClaimPair, checked_json, pairs_of
    from data.block_work import in_order
    from data.refused import Refused

    refused: list[Refused] = []

    def blocks() -> Iterator[list[ClaimPair]]:
        pairs = pairs_of(_numbered(arguments.pairs), needs_evidence)
        while block := list(islice(pairs, AT_ONCE)):
            bad = [item for item in block if isinstance(item, Refused)]
            if bad and not arguments.skip_bad:
                raise AppError(f"{bad[0]}; fix the line or skip such lines with --skip-bad")
            refused.extend(bad)
            yield [item for item in block if isinstance(item, ClaimPair)]

    codes: set[int] = set()
    done = 0
    with output.progress() as bar:
        for results in in_order(workers, blocks()):
            for checked in results:
                if output.as_json:
                    output.json(checked_json(checked))
                else:
                    output.data(_short(checked))
            codes.add(_code(arguments, results))
            done += len(results)
            bar.update("claims", done, None)
    if not done:
        raise AppError(f"there is no pair in {arguments.pairs}: nothing to judge")
    if refused:
        output.info(f"{len(refused)} bad lines were skipped, the first: {refused[0]}")
    return next((code for code in (EXIT_THRESHOLD, EXIT_PARTIAL) if code in codes), EXIT_OK)


def _code(arguments: argparse.Namespace, results: tuple[CheckedClaim, ...] | list[CheckedClaim]) -> int:
    if arguments.fail_unsupported and any(c.label in ("unverifiable", "contradicted") for c in results):
        return EXIT_THRESHOLD
    return EXIT_PARTIAL if any(c.label == "unscored" for c in results) else EXIT_OK


def _lines(checked: CheckedClaim) -> Iterator[str]:
    """Yield the lines that describe the verdict on one claim."""
    yield f"{checked.label}  support {_support(checked)}"
    for verdict in checked.verdicts:
        yield from verdict_lines(verdict, alone=len(checked.verdicts) == 1)
    if checked.weak:
        words = ", ".join(f'"{checked.pair.claim[w.start : w.end]}" (+{w.gain:.2f})' for w in checked.weak)
        yield f"  weak words (support without them): {words}"
    if checked.label == "unscored" and not checked.verdicts:
        yield f"  because: {checked.reason}"


def verdict_lines(verdict: Verdict, *, alone: bool) -> Iterator[str]:
    """Yield the verdict, reason and best evidence of one claim. alone: omit the verdict, which is already printed."""
    if not alone:
        support = "unscored" if verdict.support is None else f"{verdict.support:.3f}"
        yield f"  {support} {verdict.label}: {verdict.claim.text}"
    if verdict.label != "supported" and verdict.reason:
        yield f"  because: {verdict.reason}"
    for e in verdict.evidence:
        yield f'  best evidence {e.document_id} {e.start}-{e.end}: "{e.text}"'


def _short(checked: CheckedClaim) -> str:
    name = f"{checked.pair.id}  " if checked.pair.id else ""
    return f"{_support(checked)}  {checked.label:<12}  {name}{' '.join(checked.pair.claim.split())[:100]}"


def _support(checked: CheckedClaim) -> str:
    return "  -  " if checked.support is None else f"{checked.support:.3f}"


def _evidence(names: list[str]) -> Iterator[EvidenceText]:
    """Yield the texts of the evidence files. Raises AppError or DataError for a file that is empty or unreadable."""
    from data.loaders import Refused, load_documents
    from evaluation.verifiers.evidence import EvidenceText

    for name in names:
        if name == "-":
            text = sys.stdin.read()
            if not text.strip():
                raise AppError("there is no evidence on standard input")
            yield EvidenceText("-", text, 0)
            continue
        for item in load_documents([Path(name)]):
            if isinstance(item, Refused):
                raise AppError(f"the evidence cannot be read: {item}")
            if item.text.strip():
                yield EvidenceText(item.id, item.text, 0, item.title)


def _numbered(name: str) -> Iterator[tuple[str, str]]:
    """Yield (location, line) for the lines of a file or of standard input."""
    from data.compressed import numbered_lines

    if name != "-":
        for number, line in numbered_lines(Path(name), "claims and evidence"):
            yield f"{name}:{number}", line
        return
    for number in count(1):
        line = sys.stdin.readline()
        if not line:
            return
        if line.strip():
            yield f"standard input:{number}", line
