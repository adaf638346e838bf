"""Arguments of ``train verifier`` that say which rows it is trained on: made now, or before."""

from __future__ import annotations

import argparse
from typing import Any

from app.commands.options import add_limit
from app.commands.parser import rare, renamed
from app.commands.training_options import a_path
from app.errors import UsageError

ROW_OPTIONS: dict[str, Any] = {
    "data": [],
    "texts": [],
    "reading": [],
    "hold_out": [],
    "skip_bad": False,
    "made": 30_000,
    "replies": 0,
    "answers": 12_000,
    "limit": None,
    "rows": None,
    "source_cap": None,
    "window": 300,
    "balance": None,
    "windows": 5,
    "together": 160,
    "smaller": 0.4,
    "altered": 0.0,
    "strangers": 0.12,
}
"""What says which rows there are, and its defaults. They are filled in late: with --rows-from none may be given."""


RENAMED = {"made": "synthetic", "answers": "short-answers", "together": "joint-tokens", "not_taught": "no-distill"}
"""The flags of fields that are called otherwise."""

_OF_RUNS = ("output", "start", "mix", "teacher", "not_taught", "epochs", "steps", "minutes")


def add_rows(group: argparse._ArgumentGroup) -> None:
    """Those of ``ROW_OPTIONS``, --rows-to and --rows-from."""
    paths: dict[str, Any] = {"type": a_path, "action": "append"}
    group.add_argument("--data", **paths, metavar="FILE", help="may be repeated")
    group.add_argument(
        "--texts",
        **paths,
        metavar="PATH",
        help="documents to make claims from by rule, and of --reading's questions that only name their passages",
    )
    synthetic = group.add_argument(
        "--synthetic", dest="made", type=int, metavar="N", help="claims made by rule (default 30000)"
    )
    renamed(group, "--made", synthetic)
    group.add_argument(
        "--replies",
        type=int,
        metavar="N",
        help="turns of a conversation made by rule: what a text says, chattily put, and small talk that no text "
        "supports (default 0; some thousands where a chatty model is judged)",
    )
    group.add_argument(
        "--reading",
        **paths,
        metavar="FILE",
        help="questions on passages (as for train reader), to make right and wrong short answers from",
    )
    short = group.add_argument(
        "--short-answers", dest="answers", type=int, metavar="N", help="short answers (default 12000)"
    )
    renamed(group, "--answers", short)
    group.add_argument(
        "--hold-out",
        action="append",
        metavar="SOURCE",
        help="do not train on this source, score on it; NAME* for all that begin so, NAME:17%% for a part of its texts",
    )
    add_limit(group, "pairs, or answers, of each file")
    group.add_argument("--rows", type=int, help="labelled pairs at most, drawn at random (default all)")
    group.add_argument("--source-cap", type=int, metavar="N", help="labelled pairs of a source at most")
    group.add_argument("--window", type=int, help="tokens of evidence read at once (default 300)")
    group.add_argument(
        "--balance",
        type=float,
        metavar="R",
        help="supported pairs of a source at most, for each unsupported one of it (default all)",
    )
    group.add_argument(
        "--windows",
        type=int,
        metavar="N",
        help="windows of a claim's evidence trained at most, those with most of its words (default 5)",
    )
    joint = group.add_argument(
        "--joint-tokens",
        dest="together",
        type=int,
        metavar="N",
        help="tokens of an answer's claims read together, where a file holds answers (default 160; 0: each alone)",
    )
    renamed(group, "--together", joint)
    group.add_argument(
        "--smaller",
        type=float,
        help="share of answers cut into smaller parts, so that it reads any number of claims (default 0.4)",
    )
    group.add_argument(
        "--altered",
        type=float,
        metavar="SHARE",
        help="share of answers that are read once more, against evidence altered by rule: numbers and names exchanged, "
        "attributes and hours of records, a sentence taken out (default 0)",
    )
    group.add_argument("--strangers", type=float, help="share of rows with a stranger's window beside (default 0.12)")
    group.add_argument("--skip-bad", action="store_true", default=None, help="leave bad lines out and count them")
    group.add_argument(
        "--rows-to",
        type=a_path,
        metavar="FOLDER",
        help="make the rows, write them there and end, for --rows-from: another machine, one with a GPU, needs neither "
        "the files nor the time (some MB in files of less than 15; of what is under training --seed and --plain count)",
    )
    group.add_argument(
        "--rows-from",
        type=a_path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="rows that --rows-to has written, in place of all of the above; may be repeated",
    )
    rare(group, "--replies", "--source-cap", "--window", "--balance", "--windows", "--joint-tokens", "--smaller")
    rare(group, "--altered", "--strangers")


def asked_rows(arguments: argparse.Namespace) -> argparse.Namespace:
    """What the rows are to be, defaults filled in. Raises UsageError where it is not said, or said twice."""
    given = [name for name in ROW_OPTIONS if getattr(arguments, name) is not None]
    if arguments.rows_from and given:
        raise UsageError(
            f"--rows-from has rows that are made already: --{_flag(given[0])} cannot change them, say it to --rows-to"
        )
    if arguments.rows_from and arguments.rows_to:
        raise UsageError("--rows-to writes rows and --rows-from reads them: give one of the two")
    idle = [name for name in _OF_RUNS if getattr(arguments, name) not in (None, [])]
    if arguments.rows_to and idle:
        raise UsageError(f"--rows-to only makes rows: --{_flag(idle[0])} is for the run, with --rows-from")
    if not arguments.rows_from and not arguments.data:
        raise UsageError("nothing to train on: give --data FILE, or --rows-from FOLDER")
    if arguments.output is None and not arguments.rows_to:
        raise UsageError("--output FOLDER says where the verifier goes: give it")
    asked = {name: getattr(arguments, name) if name in given else default for name, default in ROW_OPTIONS.items()}
    return argparse.Namespace(**asked)


def _flag(name: str) -> str:
    return RENAMED.get(name, name.replace("_", "-"))
