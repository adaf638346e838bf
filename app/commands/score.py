"""Score answers that another system produced: verdicts, rates and intervals. Nothing is generated.

FILE holds answers. It may be JSONL, a JSON list, CSV, TSV, Parquet or a folder of Hugging Face datasets with an answer
and contexts (or references), and optionally a question, labels, system and IDs. It may also be results of Ragas,
DeepEval, promptfoo, TruLens or Inspect, RAGTruth (the folder, or response.jsonl with source_info.jsonl in the same
folder), or traces of Langfuse, Phoenix, LangSmith or OpenTelemetry (OTLP), one answer per trace. Text may be compressed
(.gz, .bz2). Field names are guessed (see the table in docs/score.md) or given with --answer-field and similar options.

References measure factuality. Contexts measure faithfulness: whether the contexts support the answer. If an answer has
both, references judge the answer, and contexts judge everything else that it states. Answers to the same question form
one cluster for the intervals. Systems are compared on common questions.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

from app.commands.choices import VERIFIERS
from app.commands.parser import rare, renamed
from app.console import Output
from app.errors import EXIT_OK, EXIT_PARTIAL, EXIT_THRESHOLD, UsageError

if TYPE_CHECKING:
    from app.gate import Gate
    from app.judging.answer_judge import Choice
    from app.scoring.result import ScoreResult

EXPORTS = ("parquet", "otlp", "otlp-logs")
_FIELDS = (
    *("question", "answer", "contexts", "references", "arm", "id", "sample", "answerable"),
    *("hallucinated", "supported"),
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.engine_options import add_engine
    from app.commands.fail_if import add_fail_if
    from app.commands.options import add_device, add_limit, add_report, add_skip_bad
    from app.commands.verifier_options import add_verifier

    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="answers, a test run, traces, or a folder of datasets or RAGTruth",
    )
    reading = parser.add_argument_group("reading")
    reading.add_argument(
        "--format",
        choices=("jsonl", "json", "csv", "tsv", "ragtruth", "inspect", "arrow", "datasets"),
        help="force a format instead of detecting it",
    )
    for field in _FIELDS:
        reading.add_argument(f"--{field}-field", metavar="NAME", help=f"field with the {_MEANING[field]}")
    reading.add_argument(
        "--group", metavar="FIELD", help="field that identifies the cluster of an answer for the intervals"
    )
    reading.add_argument("--ignore-labels", action="store_true", help="ignore human labels of the answers")
    reading.add_argument(
        "--split",
        help='split of a folder of datasets, or of RAGTruth (or "all"; default "test" if there is one, otherwise all)',
    )
    add_limit(reading, "answers")
    add_skip_bad(reading)
    judging = parser.add_argument_group("judging")
    add_verifier(
        judging, VERIFIERS, "references if all answers have some, with contexts for the rest; otherwise contexts"
    )
    evidence = judging.add_argument(
        "--evidence-from",
        dest="evidence",
        choices=("contexts", "references"),
        default="contexts",
        help="evidence for entailment and --judge (default contexts; use references for long reference answers)",
    )
    renamed(judging, "--evidence", evidence)
    judging.add_argument("--baseline", metavar="SYSTEM", help="compare every system with this one")
    judging.add_argument("--level", type=float, default=0.95, help="confidence level of the intervals (default 0.95)")
    add_device(judging)
    add_engine(parser)
    out = parser.add_argument_group("output")
    out.add_argument(
        "--export",
        nargs=2,
        action="append",
        default=[],
        metavar=("KIND", "FILE"),
        help=f"write the answers to FILE; KIND: {' | '.join(EXPORTS)}; for otlp, FILE may be the URL of an OTLP server",
    )
    out.add_argument(
        "--answers",
        type=Path,
        metavar="OUT.jsonl",
        help="write the verdicts on every answer; an interrupted command continues from this file",
    )
    add_report(out, "default: none")
    add_fail_if(out)
    rare(parser, *(f"--{field}-field" for field in _FIELDS if field not in ("question", "answer", "contexts")))
    rare(parser, "--group", "--level", "--ignore-labels", "--split")


_MEANING = {
    "question": "question",
    "answer": "answer",
    "contexts": "contexts",
    "references": "reference answers",
    "arm": "system that produced the answer",
    "id": "answer's ID",
    "sample": "sample number among answers with the same ID",
    "answerable": "mark of answerable questions; false means that the documents do not answer the question",
    "hallucinated": "label; true means hallucinated",
    "supported": "label; true means supported",
}


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Read and judge the answers, print the figures, and write the requested files."""
    from app.commands.engine_options import block_executor, check_distributable, judging_device
    from app.commands.fail_if import checked_gate
    from app.commands.verifier_options import verifier_choice, verifier_source
    from app.judging.answer_judge import JudgePlan
    from app.scoring.json_output import AnswerLines
    from app.scoring.score import ScorePlan, score
    from data.answers import load_answers
    from data.record_fields import FieldNames

    _check(arguments)
    choice, source = cast("Choice", verifier_choice(arguments)), verifier_source(arguments)
    check_distributable(arguments, choice)
    gate = checked_gate(arguments.fail_if)
    names = {field: getattr(arguments, f"{field}_field") for field in _FIELDS}
    file = load_answers(
        arguments.files,
        layout=arguments.format,
        names=FieldNames(**names, group=arguments.group, labels=not arguments.ignore_labels),
        split=arguments.split,
        skip_bad=arguments.skip_bad,
        limit=arguments.limit,
    )
    device = judging_device(arguments)
    evidence, model = arguments.evidence, arguments.verifier_model
    judging = JudgePlan(choice, evidence, model, arguments.threshold, device, source)
    plan = ScorePlan(judging, arguments.baseline, arguments.level, marks=arguments.report is not None)
    lines = AnswerLines(arguments.answers) if arguments.answers else None
    try:
        with block_executor(arguments, output) as executor, output.progress() as bar:
            result = score(
                file,
                plan,
                known=lines.known if lines else None,
                keep=lines.keep if lines else None,
                progress=lambda done, total: bar.update("answers", done, total),
                executor=executor,
            )
        if lines is not None:
            lines.finish(result.answers)
    finally:
        if lines is not None:
            lines.close()
    for kind, target in arguments.export:
        _export(result, kind, target, output)
    return _shown(arguments, output, result, gate)


def _export(result: ScoreResult, kind: str, target: str, output: Output) -> None:
    from app.exporting.responses_export import RESPONSE_EXPORTS, export_responses, without_password

    for known in RESPONSE_EXPORTS:
        if kind == known:
            count = export_responses(known, target, result.responses(time.time_ns()))
            output.info(f"{kind}: {count} answers in {without_password(target)}")


def _check(arguments: argparse.Namespace) -> None:
    from app.commands.verifier_options import check_threshold

    if arguments.limit is not None and arguments.limit < 1:
        raise UsageError(f"--limit is {arguments.limit}: it must be at least 1")
    check_threshold(arguments)
    if not 0.0 < arguments.level < 1.0:
        raise UsageError(f"--level is {arguments.level}: it must lie strictly between 0 and 1, e.g. 0.95")
    unknown = [kind for kind, _ in arguments.export if kind not in EXPORTS]
    if unknown:
        raise UsageError(f"--export {unknown[0]}: choose from {', '.join(EXPORTS)}")
    if arguments.export:
        from app.exporting.responses_export import check_target

        for kind, target in arguments.export:
            check_target(kind, target)
    for name in ("answers", "report"):
        path = getattr(arguments, name)
        if path is not None and not path.absolute().parent.is_dir():
            raise UsageError(f"--{name} {path}: the folder {path.parent} does not exist")


def _shown(arguments: argparse.Namespace, output: Output, result: ScoreResult, gate: Gate | None) -> int:
    """Print tables or one JSON document, write the report, and return the exit code."""
    from app.commands.fail_if import gate_code
    from app.labelling.figures import gate_figures
    from app.runs.corrected_table import print_corrected
    from app.runs.first_screen_lines import advice_lines, summary_lines, term_lines
    from app.runs.tables import arms_table, pairs_table
    from app.scoring.corrected import rates_note, score_corrected, with_corrected
    from app.scoring.json_output import result_json
    from app.scoring.report import score_report
    from app.scoring.tables import detection_lines, headline
    from evaluation.reports.first_screen import first_screen
    from evaluation.reports.report import write_report

    corrected = score_corrected(result)
    title = f"Answers of {', '.join(path.name for path in arguments.files)}"
    command = shlex.join(["plumbline", *sys.argv[1:]])
    data = score_report(result, title=title, command=command, corrected=corrected)
    screen = first_screen(data)
    if arguments.report is not None:
        write_report(arguments.report, data)
    code = EXIT_PARTIAL if result.failed else EXIT_OK
    failed, gated = gate_code(gate, gate_figures(result.summary, corrected), output)
    code = EXIT_THRESHOLD if failed else code
    for note in (*result.notes, rates_note(corrected)):
        output.info(note)
    if result.file.skipped:
        output.info(f"{len(result.file.skipped)} bad lines were skipped, the first: {result.file.skipped[0]}")
    if result.languages:
        kinds = ", ".join(f"{count} where {what}" for what, count in result.languages)
        total = sum(count for _, count in result.languages)
        output.info(
            f"{total} of {len(result.answers)} answers are unscored because the verifier supports only English: "
            f"{kinds}. Choose another verifier with --verifier-model NAME or --judge MODEL."
        )
    for reason, count in result.reasons[:5]:
        output.info(f"{count} unscored: {reason}")
    if output.as_json:
        document = {"first_screen": screen.to_json()} | with_corrected(result_json(result), corrected)
        output.json(document | gated | {"exit_code": code})
        return code
    for text in (*summary_lines(screen), *advice_lines(screen), "", headline(result)):
        output.data(text)
    output.out.print(arms_table(result.summary))
    for text in (*term_lines(screen), ""):
        output.data(text)
    if result.summary.pairs:
        output.out.print(pairs_table(result.summary))
    print_corrected(corrected, output)
    for line in detection_lines(result):
        output.data(line)
    for name in ("answers", "report"):
        if (path := getattr(arguments, name)) is not None:
            output.data(f"{name} {path}")
    return code
