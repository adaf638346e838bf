"""Arguments that select a verifier and its sources, and functions that read their values."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from app.commands.parser import rare
from app.errors import UsageError
from app.judging.verifier_sources import VerifierSource

_NEEDED = ("facts", "judge", "labels")


def add_verifier(group: argparse._ActionsContainer, choices: Sequence[str], default: str) -> None:
    """Declare --verifier, --verifier-model, --threshold, and the options of ``add_verifier_sources``.

    choices: allowed values of --verifier. default: description of the verifier that "auto" selects.
    """
    group.add_argument(
        "--verifier",
        choices=choices,
        default="auto",
        help=f"verifier (default auto: {default})",
    )
    group.add_argument(
        "--verifier-model",
        metavar="NAME",
        default=None,
        help="entailment model: FOLDER, OWNER/NAME, token-overlap or verifier-network (default: embedded)",
    )
    group.add_argument(
        "--threshold",
        type=float,
        default=0.5,
        help="support from which a claim counts as supported, in (0, 1] (default 0.5)",
    )
    add_verifier_sources(group)


def check_threshold(arguments: argparse.Namespace) -> None:
    """Raise UsageError for an invalid --threshold."""
    if not 0.0 < arguments.threshold <= 1.0:
        raise UsageError(f"--threshold is {arguments.threshold}: it must be above 0 and at most 1")


def add_verifier_sources(group: argparse._ActionsContainer) -> None:
    """Declare --facts, --tolerance, --judge, --votes, --labels, --split-claims, --together and --alone."""
    group.add_argument(
        "--facts",
        metavar="SOURCE",
        help="judge by a table of subject, relation and value: a database URL#TABLE, or a CSV or JSONL file",
    )
    group.add_argument(
        "--tolerance",
        type=float,
        default=0.0,
        help="relative tolerance of numbers compared with facts (default 0: exact)",
    )
    group.add_argument(
        "--judge", metavar="MODEL", help="judge by a language model, which answers yes or no; named like --model"
    )
    group.add_argument("--votes", type=int, default=5, help="number of answers of --judge per claim (default 5)")
    group.add_argument("--labels", type=Path, metavar="FILE", help="human labels: question, answer (or claim), label")
    group.add_argument(
        "--split-claims",
        action="store_true",
        help="split sentences into simpler claims at conjunctions and relative clauses",
    )
    read = group.add_mutually_exclusive_group()
    read.add_argument(
        "--together",
        action="store_true",
        default=None,
        help="read the claims of an answer together (default except in evaluate, where the separate reading "
        "allows the drift analysis)",
    )
    read.add_argument("--alone", dest="together", action="store_false", help="read every claim of an answer separately")
    rare(group, "--tolerance", "--votes", "--split-claims", "--together", "--alone")


def verifier_choice(arguments: argparse.Namespace) -> str:
    """Return the value of --verifier. For "auto" return the verifier that --facts, --judge or --labels implies, if any.

    Raises UsageError for several of these options, for one that --verifier does not use, and for invalid numbers.
    """
    source = verifier_source(arguments)
    given = [name for name in _NEEDED if getattr(source, name) is not None]
    choice = str(arguments.verifier)
    if len(given) > 1:
        raise UsageError(
            f"--{given[0]} and --{given[1]} are two verifiers: give only one, so that all verdicts are of one kind"
        )
    if choice == "auto" and given:
        choice = given[0]
    if choice in _NEEDED and not given:
        raise UsageError(f"--verifier {choice} needs --{choice} ({_what(choice)})")
    if given and choice != given[0]:
        raise UsageError(f"--verifier {choice} does not use --{given[0]}: omit one of the two")
    if source.together is not None and choice not in ("auto", "entailment"):
        flag = "--together" if source.together else "--alone"
        raise UsageError(f"--verifier {choice} does not support {flag}: only entailment does")
    if not 0.0 <= source.tolerance < 1.0:
        raise UsageError(f"--tolerance is {source.tolerance}: it must be a share of the value, at least 0 and below 1")
    if source.votes < 1:
        raise UsageError(f"--votes is {source.votes}: it must be at least 1")
    return choice


def verifier_source(arguments: argparse.Namespace) -> VerifierSource:
    """Return the VerifierSource of the arguments. Arguments that the command does not declare have their defaults."""
    plain = VerifierSource()
    return VerifierSource(
        getattr(arguments, "facts", plain.facts),
        getattr(arguments, "tolerance", plain.tolerance),
        getattr(arguments, "judge", plain.judge),
        getattr(arguments, "votes", plain.votes),
        getattr(arguments, "labels", plain.labels),
        getattr(arguments, "split_claims", plain.split),
        getattr(arguments, "together", plain.together),
    )


def _what(choice: str) -> str:
    kinds = {"facts": "a database's URL#TABLE, or a file", "judge": "a model, named like --model", "labels": "a file"}
    return kinds[choice]
