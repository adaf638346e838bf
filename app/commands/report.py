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
            show(line, arguments.run_id, arguments.report, output, _marker(line, arguments.run_id, output))
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


def _marker(line: Any, run_id: str, output: Output) -> Any:
    """What marks the weak words of a run's answers; None where nothing is to mark, or what judged it is gone."""
    from app.errors import USER_ERRORS
    from app.judging import reopen_judge
    from evaluation.runs.run_store import RunStore

    runs = RunStore(line.store)
    info = runs.load_run(run_id)
    try:
        judge = reopen_judge(line, info, runs.load_questions(info.id))
    except USER_ERRORS as error:
        output.say(f"no words are marked in the answers: {error}")
        return None
    return judge.entailment if judge else None


def show(line: Any, run_id: str, path: Path | None, output: Output, marker: Any = None) -> int:
    """Print a run and write its report; returns the number of unscored responses.

    marker: the EntailmentVerifier that judged it, to mark the weak words of the worst answers.
    """
    from dataclasses import asdict

    from app.run_report import report_data, with_marks
    from app.runs import full_run_id
    from app.tables import arms_table, pairs_table
    from evaluation.reports.report import write_report
    from evaluation.runs.run_store import RunStore

    run_id = full_run_id(line, run_id)
    data = report_data(line, run_id)
    if marker is not None:
        data = with_marks(data, marker, RunStore(line.store).load_questions(run_id))
    target = (path or line.home / "reports" / f"{run_id}.html").absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    write_report(target, data)
    unscored = sum(s.outcome == "unscored" for q in data.questions for a in q.arms for s in a.samples)
    if output.as_json:
        shown = {"run": run_id, "report": str(target), "unscored": unscored, "summary": data.summary.to_json()}
        output.json(shown | ({"entailment": asdict(data.entailment)} if data.entailment else {}))
        return unscored
    output.out.print(arms_table(data.summary))
    if data.summary.pairs:
        output.out.print(pairs_table(data.summary))
    for note in data.notes:
        output.say(note)
    output.data(f"run {run_id}")
    output.data(f"report {target}")
    return unscored
