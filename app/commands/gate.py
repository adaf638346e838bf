"""Compare a run with a baseline file; exit code 3 if it is significantly worse.

``plumbline gate RUN --baseline FILE --renew`` writes the file, which is committed to the repository. Without --renew
the command compares the hallucinated and supported shares of each arm, paired by question, with one-sided tests. The
gate also fails if the two cannot be compared (another verifier, other questions), or if the condition of --fail-if is
met. RUN may be "latest". See docs/gates.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from app.console import Output
from app.errors import EXIT_OK, EXIT_THRESHOLD, UsageError

if TYPE_CHECKING:
    from evaluation.gating.regression import GateReport


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.fail_if import add_fail_if

    parser.add_argument("run_id", metavar="RUN", help='finished run: name, ID, prefix of the ID, or "latest"')
    parser.add_argument("--baseline", type=Path, required=True, metavar="FILE", help="baseline file")
    parser.add_argument("--renew", action="store_true", help="write RUN as the new baseline, without comparing")
    parser.add_argument(
        "--level", type=float, default=0.95, help="confidence level of all one-sided tests together (default 0.95)"
    )
    parser.add_argument("--margin", type=float, default=0.0, help="tolerated worsening of a share (default 0)")
    parser.add_argument(
        "--other-questions", action="store_true", help="compare on the common questions if the sets differ"
    )
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the result as Markdown, for a pull request"
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the result as JUnit XML")
    parser.add_argument("--json-file", type=Path, metavar="FILE", help="write the result as JSON")
    add_fail_if(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Write the baseline, or compare the run with it."""
    from app.commands.fail_if import checked_gate
    from app.commands.options import open_pipeline
    from app.gate import apply_gate, summary_figures
    from app.gates.gate import baseline_of, compare_with_baseline, gated_run
    from evaluation.gating.baseline import write_baseline
    from evaluation.gating.formats import to_json

    condition = checked_gate(arguments.fail_if)
    if arguments.renew and (condition or arguments.markdown or arguments.junit or arguments.json_file):
        raise UsageError("--renew compares nothing: omit --fail-if, --markdown, --junit and --json-file")
    with open_pipeline(arguments) as pipeline:
        gated = gated_run(pipeline, arguments.run_id)
    if arguments.renew:
        write_baseline(arguments.baseline, baseline_of(gated))
        output.info(f"run {gated.info.id} is the baseline in {arguments.baseline}: commit the file")
        if output.as_json:
            output.json({"run": gated.info.id, "baseline": str(arguments.baseline), "renewed": True})
        return EXIT_OK
    met: tuple[str, ...] = ()
    if condition is not None:
        result = apply_gate(condition, summary_figures(gated.summary))
        met = result.reasons if result.failed else ()
    report = compare_with_baseline(
        gated,
        arguments.baseline,
        level=arguments.level,
        margin=arguments.margin,
        other_questions=arguments.other_questions,
        conditions=met,
    )
    _write(report, arguments)
    if output.as_json:
        output.json(to_json(report))
    else:
        _show(report, output)
    return EXIT_THRESHOLD if report.failed else EXIT_OK


def _write(report: GateReport, arguments: argparse.Namespace) -> None:
    from data.atomic_write import atomic_write
    from evaluation.gating.formats import to_json, to_junit, to_markdown

    formats = (
        (arguments.markdown, to_markdown),
        (arguments.junit, to_junit),
        (arguments.json_file, lambda result: json.dumps(to_json(result), ensure_ascii=False, indent=1) + "\n"),
    )
    for path, formatted in formats:
        if path is not None:
            with atomic_write(path) as part:
                part.write_text(formatted(report), encoding="utf-8")


def _show(report: GateReport, output: Output) -> None:
    for text in report.broken:
        output.data(f"broken premise: {text}")
    for text in report.conditions:
        output.data(f"--fail-if is met: {text}")
    for one in report.compared:
        if one.before is None or one.after is None or one.change is None:
            output.data(f"UNKNOWN {one.arm} {one.quantity}: cannot be compared, {one.reason}")
            continue
        left_out = f", {one.unscored} left out as unscored" if one.unscored else ""
        mark = "WORSE" if one.regressed else "ok"
        output.data(
            f"{mark:5} {one.arm} {one.quantity}: {one.before:.1%} → {one.after:.1%} "
            f"({one.change:+.1%} [{one.lower:+.1%}, {one.upper:+.1%}], {one.questions} questions{left_out})"
        )
        if one.regressed:
            output.data(f"      got worse: {', '.join(one.worst)}")
    for text in report.changed:
        output.info(f"changed since the baseline: {text}")
    verdict = "failed" if report.failed else "passed"
    output.info(
        f"gate {verdict}: run {report.run} against baseline {report.baseline}, one-sided level {report.level:g}"
    )
