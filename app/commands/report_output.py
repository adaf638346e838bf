"""Print a run on the terminal, and write its report, charts and answers to files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.console import Output

if TYPE_CHECKING:
    from app.gate import Gate
    from app.runs.analysis import AnalysisOptions
    from evaluation.reports.report_data import ReportData


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """Files to write.

    report: HTML report, None for the default in the home. plots: folder of the charts, None for no charts.
    answers: CSV file of the answers, None for no file.
    """

    report: Path | None = None
    plots: Path | None = None
    answers: Path | None = None


@dataclass(frozen=True, slots=True)
class PrintedReport:
    """The result of printing a report.

    unscored: number of responses without an outcome because search, model or verifier failed. failed: whether the
    condition of --fail-if was met.
    """

    unscored: int
    failed: bool


def report_run(
    pipeline: Any,
    run_id: str,
    files: ReportFiles,
    output: Output,
    marker: Any = None,
    gate: Gate | None = None,
    against: str | None = None,
    layout: str = "table",
    analysis: AnalysisOptions | None = None,
) -> PrintedReport:
    """Print a run, or its comparison with another, and write its report and plots.

    marker: EntailmentVerifier that judged the run, which marks the weak words of the worst answers; None marks none.
    gate: condition of --fail-if. against: ID of the run to compare with. layout: table, json, csv or markdown.
    analysis: further analyses.

    Raises UsageError for a condition on an unknown figure, and the errors of loading and writing.
    """
    from app.commands.fail_if import gate_code
    from app.labelling.figures import gate_figures
    from app.runs.comparison import comparison_data
    from app.runs.evaluate import full_run_id
    from app.runs.report import report_data
    from app.runs.weak_words import with_marks
    from data.atomic_write import atomic_write
    from data.private import make_private, make_private_folder
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
            else report_data(
                pipeline, run_id, analysis, lambda done, total: bar.update("further verification", done, total)
            )
        )
    declared = () if against else default_pairs([arm.arm for arm in data.summary.arms], data.summary.baseline)
    failed, gated = gate_code(gate, gate_figures(data.summary, data.corrected, declared), output)
    if marker is not None:
        data = with_marks(data, marker, RunStore(pipeline.store).load_questions(run_id))
    name = f"{run_id}-against-{against}" if against else run_id
    target = (files.report or pipeline.home / "reports" / f"{name}.html").absolute()
    if files.report is None:
        make_private_folder(target.parent)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_report(target, data)
    if files.report is None:
        make_private(target)
    if files.answers is not None:
        with atomic_write(files.answers) as part:
            part.write_text(answers_csv(data), encoding="utf-8")
        output.info(f"answers {files.answers}")
    drawn = write_plots(files.plots, data) if files.plots else ()
    rasters = write_pngs(drawn) if drawn else Rasters(())
    if rasters.reason:
        output.info(rasters.reason)
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
            output.info(note)
