"""Print a run's figures and write its HTML report; compare two runs; export a run. Without RUN, list the runs.

--against RUN2 compares the two on common questions: paired differences, RUN2 minus RUN, with intervals. --format prints
JSON, CSV or Markdown instead of tables. --plots writes the charts as SVG and PNG files.

--export KIND FILE writes the run as Ragas records, an Inspect-like JSON log, RAGTruth's layout (FILE is then a folder),
a TREC run of the passages in the prompts, Parquet, or OpenTelemetry spans (otlp) or log records (otlp-logs). For otlp
and otlp-logs, FILE may be the URL of a server. --export can be repeated. docs/score.md lists the fields of each format.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.console import Output
from app.errors import EXIT_OK, EXIT_PARTIAL, EXIT_THRESHOLD, UsageError

if TYPE_CHECKING:
    from app.gate import Gate
    from app.runs.analysis import AnalysisOptions
    from evaluation.reports.report_data import ReportData

EXPORTS = ("ragas", "inspect", "ragtruth", "trec", "parquet", "otlp", "otlp-logs")


@dataclass(frozen=True, slots=True)
class PrintedReport:
    """The result of printing a report.

    unscored: number of responses without an outcome because search, model or verifier failed. failed: whether the
    condition of --fail-if was met.
    """

    unscored: int
    failed: bool


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.fail_if import add_fail_if
    from app.commands.options import add_analysis, add_answers_csv, add_report

    parser.add_argument("run_id", nargs="?", metavar="RUN", help="a run's name or id; leave it out to list them")
    parser.add_argument("--against", metavar="RUN2", help="compare with this run on the questions both have")
    add_report(parser, "default in home/reports")
    add_answers_csv(parser)
    parser.add_argument("--format", choices=("table", "json", "csv", "markdown"), default="table", help="output format")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="write the charts as SVG and PNG files")
    parser.add_argument(
        "--export", nargs=2, action="append", default=[], metavar=("KIND", "FILE"), help=" | ".join(EXPORTS)
    )
    parser.add_argument("--arms", metavar="ARMS", help="of --export: only these arms, comma-separated")
    add_analysis(parser)
    add_fail_if(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """List the runs, or report and export one."""
    from app.commands.fail_if import checked_gate
    from app.commands.options import open_pipeline
    from app.commands.runs import show_runs
    from app.runs.analysis import AnalysisOptions
    from app.runs.evaluate import full_run_id
    from evaluation.runs.run_store import RunStore

    _check(arguments)
    gate = checked_gate(arguments.fail_if)
    with open_pipeline(arguments) as pipeline:
        if arguments.run_id is None:
            show_runs(RunStore(pipeline.store).list_runs(), output)
            return EXIT_OK
        run_id = full_run_id(pipeline, arguments.run_id)
        for kind, name in arguments.export:
            _export(pipeline, run_id, kind, name, arguments.arms, output)
        if arguments.export and not (arguments.plots or arguments.against or arguments.report or gate):
            return EXIT_OK
        against = full_run_id(pipeline, arguments.against) if arguments.against else None
        marker = None if against else _marker(pipeline, run_id, output)
        looking = AnalysisOptions(
            arguments.signals, arguments.faithfulness, arguments.gold_evidence, arguments.citations
        )
        shown = report_run(
            pipeline,
            run_id,
            arguments.report,
            output,
            marker,
            gate,
            against,
            arguments.format,
            arguments.plots,
            looking,
            answers_file=arguments.answers_csv,
        )
    if shown.failed:
        return EXIT_THRESHOLD
    return EXIT_PARTIAL if gate is not None and shown.unscored else EXIT_OK


def _check(arguments: argparse.Namespace) -> None:
    from app.commands.options import check_writable

    unknown = [kind for kind, _ in arguments.export if kind not in EXPORTS]
    if unknown:
        raise UsageError(f"--export {unknown[0]}: choose from {', '.join(EXPORTS)}")
    check_writable(arguments.answers_csv, "--answers-csv")
    needs_run = (
        "answers_csv",
        "against",
        "plots",
        "export",
        "fail_if",
        "report",
        "arms",
        "signals",
        "faithfulness",
        "gold_evidence",
        "citations",
    )
    named = next((name for name in needs_run if getattr(arguments, name)), None)
    if arguments.run_id is None and named:
        raise UsageError(f"--{named.replace('_', '-')} needs a run: plumbline report RUN (plumbline report lists them)")
    if arguments.arms and not arguments.export:
        raise UsageError("--arms selects arms to export: give --export too")


def _marker(pipeline: Any, run_id: str, output: Output) -> Any:
    """Return the scorer that marks weak words in a run's answers.

    None if the run has no entailment judge, or if its judge is not available.
    """
    from app.errors import USER_ERRORS
    from app.judging.run_judge import reopen_judge
    from evaluation.runs.run_store import RunStore

    runs = RunStore(pipeline.store)
    info = runs.load_run(run_id)
    try:
        judge = reopen_judge(pipeline, info, runs.load_questions(info.id))
    except USER_ERRORS as error:
        output.say(f"no words are marked in the answers: {error}")
        return None
    return judge.entailment if judge else None


def show(pipeline: Any, run_id: str, path: Path | None, output: Output, marker: Any = None) -> int:
    """Print a run, write its report, and return the number of responses that a failure left unscored.

    marker: the EntailmentVerifier that judged the run, which marks the weak words of the worst answers.
    """
    return report_run(pipeline, run_id, path, output, marker).unscored


def report_run(
    pipeline: Any,
    run_id: str,
    path: Path | None,
    output: Output,
    marker: Any = None,
    gate: Gate | None = None,
    against: str | None = None,
    layout: str = "table",
    plots: Path | None = None,
    looking: AnalysisOptions | None = None,
    answers_file: Path | None = None,
) -> PrintedReport:
    """Print a run, or its comparison with another, and write its report and plots.

    path: HTML report, None for the default in the home. marker: see ``show``. gate: condition of --fail-if.
    against: ID of the run to compare with. layout: table, json, csv or markdown. looking: further analyses.

    Raises UsageError for a condition on an unknown figure, and the errors of loading and writing.
    """
    from app.commands.fail_if import gate_code
    from app.labelling.figures import gate_figures
    from app.runs.comparison import comparison_data
    from app.runs.evaluate import full_run_id
    from app.runs.report import report_data
    from app.runs.weak_words import with_marks
    from data.private import make_private, make_private_folder
    from data.whole_file import whole_file
    from evaluation.reports.answers_csv import answers_csv
    from evaluation.reports.plot_files import write_plots
    from evaluation.reports.raster import Rasters, write_pngs
    from evaluation.reports.report import write_report
    from evaluation.runs.run_store import RunStore
    from evaluation.statistics.summary import default_pairs

    run_id = full_run_id(pipeline, run_id)
    with output.progress() as bar:
        data = (
            comparison_data(pipeline, run_id, against)
            if against
            else report_data(pipeline, run_id, looking, lambda done, total: bar.update("judging further", done, total))
        )
    declared = () if against else default_pairs([arm.arm for arm in data.summary.arms], data.summary.baseline)
    failed, gated = gate_code(gate, gate_figures(data.summary, data.corrected, declared), output)
    if marker is not None:
        data = with_marks(data, marker, RunStore(pipeline.store).load_questions(run_id))
    name = f"{run_id}-against-{against}" if against else run_id
    target = (path or pipeline.home / "reports" / f"{name}.html").absolute()
    if path is None:
        make_private_folder(target.parent)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_report(target, data)
    if path is None:
        make_private(target)
    if answers_file is not None:
        with whole_file(answers_file) as part:
            part.write_text(answers_csv(data), encoding="utf-8")
        output.say(f"answers {answers_file}")
    drawn = write_plots(plots, data) if plots else ()
    rasters = write_pngs(drawn) if drawn else Rasters(())
    if rasters.reason:
        output.say(rasters.reason)
    drawn += rasters.files
    unscored = [s for q in data.questions for a in q.arms for s in a.samples if s.outcome == "unscored"]
    lost = sum(
        r.failure in ("retrieval", "generator", "verifier") for r in RunStore(pipeline.store).load_samples(run_id)
    )
    shown = PrintedReport(lost, failed)
    document = {"run": run_id, "report": str(target), "unscored": len(unscored)} | gated
    document |= {"against": against} if against else {}
    document |= {"plots": [str(file) for file in drawn]} if drawn else {}
    _print(data, document, output, layout)
    return shown


def _print(data: ReportData, document: dict[str, Any], output: Output, layout: str) -> None:
    from dataclasses import asdict

    from app.runs.analysis_tables import analysis_tables
    from app.runs.breakdown_tables import breakdown_tables
    from app.runs.corrected_table import print_corrected
    from app.runs.first_screen_lines import advice_lines, summary_lines, term_lines
    from app.runs.policy_table import policies_table
    from app.runs.tables import arms_table, pairs_table
    from app.runs.unscored_lines import unscored_lines
    from evaluation.reports.claim_figures import claims_of
    from evaluation.reports.corrected_view import corrected_json
    from evaluation.reports.first_screen import first_screen
    from evaluation.reports.policy_view import policies_json
    from evaluation.reports.tabular import as_csv, as_json, as_markdown

    screen = first_screen(data)
    if layout == "csv":
        output.data(as_csv(data).rstrip("\n"))
    elif layout == "markdown":
        output.data(as_markdown(data).rstrip("\n"))
    elif layout == "json":
        output.json(as_json(data) | document)
    elif output.as_json:
        shown = (
            document
            | {"first_screen": screen.to_json(), "summary": data.summary.to_json()}
            | ({"notes": list(data.notes)} if data.notes else {})
        )
        shown |= {"analysis": data.analysis.to_json()} if data.analysis else {}
        shown |= {"corrected": corrected_json(data.corrected)} if data.corrected else {}
        shown |= {"policies": policies_json(data.policies)} if data.policies else {}
        shown |= {"claims": [asdict(arm) for arm in claims_of(data)]}
        shown |= {"abstentions": [asdict(arm) for arm in data.abstentions]}
        shown |= {"breakdown": [asdict(arm) for arm in data.breakdown]}
        shown |= {"citations": [asdict(arm) for arm in data.citations]} if data.citations else {}
        output.json(shown | ({"entailment": asdict(data.entailment)} if data.entailment else {}))
    else:
        entries = {name: value for section in data.config.sections for name, value in section.entries}
        run = "" if "against" in document else str(document["run"])
        for text in (*summary_lines(screen), *advice_lines(screen, run, entries.get("collection", "")), ""):
            output.data(text)
        output.out.print(arms_table(data.summary))
        for text in (*term_lines(screen), ""):
            output.data(text)
        if data.summary.pairs:
            output.out.print(pairs_table(data.summary))
        if data.policies:
            output.out.print(policies_table(data.policies))
        for table in analysis_tables(data.analysis):
            output.out.print(table)
        for table in breakdown_tables(data):
            output.out.print(table)
        print_corrected(data.corrected, output)
        output.data(f"run {document['run']}" + (f" against {document['against']}" if "against" in document else ""))
        output.data(f"report {document['report']}")
        for plot in document.get("plots", ()):
            output.data(f"plot {plot}")
    if layout == "table" and not output.as_json:
        for note in (*data.notes, *unscored_lines(data)):
            output.say(note)


def _export(pipeline: Any, run_id: str, kind: str, target: str, arms: str | None, output: Output) -> None:
    from app.exporting.responses_export import RESPONSE_EXPORTS, export_responses, without_password
    from app.runs.comparison import export_run
    from evaluation.exports.inspect_log import export_inspect
    from evaluation.exports.ragas import export_ragas
    from evaluation.exports.ragtruth_spans import export_ragtruth
    from evaluation.exports.records import chosen
    from evaluation.exports.responses import run_responses
    from evaluation.exports.trec import export_trec

    wanted = tuple(arm.strip() for arm in arms.split(",")) if arms else ()
    export = chosen(export_run(pipeline, run_id), wanted)
    for response_kind in RESPONSE_EXPORTS:
        if kind == response_kind:
            count = export_responses(response_kind, target, run_responses(export))
            output.say(f"{kind}: {count} responses in {without_password(target)}")
            return
    path = Path(target)
    write = {"ragas": export_ragas, "inspect": export_inspect, "ragtruth": export_ragtruth, "trec": export_trec}[kind]
    written = write(export, path)
    output.say(f"{kind}: {written.rows} {'lines' if kind == 'trec' else 'responses'} in {path}")
    if written.left_out:
        output.say(f"{written.left_out} left out: {written.reason}")
