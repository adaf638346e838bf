"""Print a run's numbers and write its HTML report; without a run, list the runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from app.console import Output
from app.errors import EXIT_OK


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run_id", nargs="?", metavar="RUN", help="a run's id; leave it out to list them")
    parser.add_argument("--report", type=Path, default=None, help="where the HTML report goes (default home/reports)")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """List the runs, or report one."""
    from app.commands.options import pipeline
    from evaluation.runs.run_store import RunStore

    with pipeline(arguments) as line:
        if arguments.run_id is not None:
            show(line, arguments.run_id, arguments.report, output)
            return EXIT_OK
        infos = RunStore(line.store).list_runs()
    if output.as_json:
        output.json(
            [{"id": i.id, "name": i.name, "status": i.status, "created_at": i.created_at.isoformat()} for i in infos]
        )
        return EXIT_OK
    for info in infos:
        output.data(f"{info.id}  {info.status:<11} {info.created_at:%Y-%m-%d %H:%M}  {info.name}")
    if not infos:
        output.say("no run yet: start one with plumbline evaluate")
    return EXIT_OK


def show(line: Any, run_id: str, path: Path | None, output: Output) -> int:
    """Print a run and write its report; returns the number of unscored responses."""
    from app.runs import full_run_id, report_data
    from app.tables import arms_table, pairs_table
    from evaluation.reports.report import write_report

    run_id = full_run_id(line, run_id)
    data = report_data(line, run_id)
    target = (path or line.home / "reports" / f"{run_id}.html").absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    write_report(target, data)
    unscored = sum(s.outcome == "unscored" for q in data.questions for a in q.arms for s in a.samples)
    if output.as_json:
        output.json({"run": run_id, "report": str(target), "unscored": unscored, "summary": data.summary.to_json()})
        return unscored
    output.out.print(arms_table(data.summary))
    if data.summary.pairs:
        output.out.print(pairs_table(data.summary))
    for note in data.notes:
        output.say(note)
    output.data(f"run {run_id}")
    output.data(f"report {target}")
    return unscored
