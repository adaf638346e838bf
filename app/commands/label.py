"""Label a random sample of a run's answers, so that "plumbline report" can correct the rates.

The command draws questions at random, with one answer of each arm, or continues the existing draw. Annotators see
neither arm nor verdict. They label in this terminal (keys: s supported, h hallucinated, a abstained, u cannot tell, b
back, q quit), in a browser on this machine (--web), or in a CSV file (--export FILE, fill in the column label, --import
FILE). Every label is saved immediately. Run the same command again to continue.

If several people label, each gives a name (--annotator NAME). --adjudicate resolves their disagreements. docs/labels.md
explains the corrected figures.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from app.labelling.sessions import LabelSession

_DEFAULT_NAME = "me"


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run_id", metavar="RUN", help="finished run: name, ID, or prefix of the ID")
    parser.add_argument(
        "--annotator", metavar="NAME", default=_DEFAULT_NAME, help=f"name of the annotator (default {_DEFAULT_NAME!r})"
    )
    parser.add_argument(
        "--adjudicate", action="store_true", help="label the answers on which annotators disagree, to resolve them"
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--web", action="store_true", help="label in a browser, served on this machine only")
    mode.add_argument("--export", type=Path, metavar="FILE", help="write the answers as a CSV file, to fill in")
    mode.add_argument(
        "--import", dest="import_file", type=Path, metavar="FILE", help="read the labels of a filled-in CSV file"
    )
    mode.add_argument(
        "--status", action="store_true", help="print the number of labels of each annotator, and their agreement"
    )
    parser.add_argument("--port", type=int, default=0, help="port of --web (default: any free port)")
    draw = parser.add_argument_group("draw", "The first call sets these options. Later calls continue its draw.")
    draw.add_argument(
        "--questions", type=int, metavar="N", help="number of questions (default 60; can be raised later)"
    )
    draw.add_argument(
        "--arms",
        metavar="ARMS",
        help="arms to label, joined by commas (default: all); one answer of each arm is labelled",
    )
    draw.add_argument("--seed", type=int, default=None, help="seed of the draw (default 0)")
    draw.add_argument(
        "--stratify",
        action="store_true",
        help="draw as many questions with a flagged answer as without, to find rare verifier errors; all drawn answers "
        "must be labelled",
    )
    draw.add_argument(
        "--active",
        action="store_true",
        help="draw about N questions, more often if the verifier is unsure, for plumbline calibrate; all drawn answers "
        "must be labelled, and the labels do not correct the rates of reports",
    )
    draw.add_argument(
        "--redraw", action="store_true", help="draw again; labels of answers that are drawn again are kept"
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Draw questions if necessary, then label, export or import, and print the status."""
    from app.commands.options import open_pipeline
    from app.labelling.draws import DrawRequest, open_draw
    from app.labelling.label_files import export_labels, import_labels
    from app.labelling.sessions import LabelSession

    arms = tuple(arm.strip() for arm in arguments.arms.split(",")) if arguments.arms else ()
    if arguments.seed is not None and arguments.seed < 0:
        raise UsageError(f"--seed is {arguments.seed}: it must not be negative")
    if not 0 <= arguments.port <= 65535:
        raise UsageError(f"--port is {arguments.port}: it must be in 0..65535")
    if arguments.active and arguments.stratify:
        raise UsageError("--active and --stratify exclude each other: give one")
    request = DrawRequest(
        arguments.questions, arms, arguments.seed, arguments.stratify, arguments.redraw, arguments.active
    )
    document: dict[str, Any] = {}
    with open_pipeline(arguments) as pipeline:
        drawn = open_draw(pipeline, arguments.run_id, request)
        if arguments.import_file is not None:
            read = import_labels(pipeline, drawn, arguments.import_file, arguments.annotator, arguments.adjudicate)
            document["imported"] = read.labels
            blank = f", {read.blank} lines without a label" if read.blank else ""
            output.info(f"{read.labels} labels of {', '.join(read.annotators)} imported{blank}")
        session = LabelSession(pipeline.store, drawn, arguments.annotator, arguments.adjudicate)
        if arguments.export is not None:
            document |= {"exported": export_labels(session, arguments.export), "file": str(arguments.export)}
            output.info(
                f"{document['exported']} answers in {arguments.export}: fill in the column label, then --import"
            )
        elif arguments.web:
            _serve(session, arguments.port, output)
        elif not (arguments.status or arguments.import_file):
            document["labelled"] = _terminal(session, output)
        _status(session, document, output)
    return EXIT_OK


def _terminal(session: LabelSession, output: Output) -> int:
    from app.labelling.terminal import label_in_terminal

    return label_in_terminal(session, output)


def _serve(session: LabelSession, port: int, output: Output) -> None:
    from app.labelling.page import serve_labels
    from app.local_pages import HOST, loopback_socket

    with loopback_socket(port) as listener:
        output.info(f"plumbline: label at http://{HOST}:{listener.getsockname()[1]}/ (Ctrl-C stops)")
        try:
            serve_labels(session, listener)
        except KeyboardInterrupt:  # The normal end: every label is already committed.
            output.info("plumbline: stopped")


def _status(session: LabelSession, document: dict[str, Any], output: Output) -> None:
    """Print the number of labels, the agreement of annotators, and the next step."""
    from dataclasses import asdict

    from evaluation.reports.corrected_view import agreement_lines

    progress = session.progress()
    total = len(progress.items)
    if output.as_json:
        output.json(
            {"run": session.run_id, **document}
            | {"items": total, "labelled_items": progress.done, "complete_questions": progress.complete}
            | {"ties": progress.ties, "disputed": len(progress.disputed)}
            | {"annotators": [asdict(a) for a in progress.annotators]}
            | {"agreement": [asdict(a) for a in progress.agreement]}
        )
        return
    output.data(f"run {session.run_id}: {progress.done} of {total} answers have a label")
    for a in progress.annotators:
        output.data(f"  {a.name}: {a.labelled}" + (f", {a.settled} disagreements resolved" if a.settled else ""))
    for line in agreement_lines(progress.agreement):
        output.data(f"  {line}")
    if progress.disputed:
        output.info(f"{len(progress.disputed)} answers are disputed: plumbline label {session.run_id} --adjudicate")
    if progress.done == total:
        output.info(f"plumbline report {session.run_id} shows the corrected rates")
