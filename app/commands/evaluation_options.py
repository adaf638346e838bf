"""Options of decoding grid and judging, and the function that builds the plan of an evaluation from all options."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, cast

from app.commands.choices import VERIFIERS
from app.commands.parser import rare
from app.errors import UsageError

if TYPE_CHECKING:
    from app.runs.evaluate import EvaluationPlan


def add_grid(parser: argparse.ArgumentParser) -> None:
    """Declare --temperatures, --top-ps and --top-ks."""
    group = parser.add_argument_group("decoding grid")
    group.add_argument(
        "--temperatures", metavar="LIST", default=None, help="temperatures, such as 0,0.7,1; greedy is always added"
    )
    group.add_argument("--top-ps", metavar="LIST", default=None, help="values of --top-p, such as 0.5,0.9,1")
    group.add_argument("--top-ks", metavar="LIST", default=None, help="values of --top-k, such as 5,50,all")


def add_judging(parser: argparse.ArgumentParser) -> None:
    """Declare --trusted and the options of ``add_verifier``."""
    from app.commands.verifier_options import add_verifier

    group = parser.add_argument_group("judging")
    add_verifier(group, VERIFIERS, "reference answers for questions that have some, otherwise entailment")
    group.add_argument(
        "--trusted",
        metavar="NAME",
        default=None,
        help="collection whose documents are the evidence (default: --collection)",
    )
    rare(group, "--trusted")


def plan_of(arguments: argparse.Namespace) -> EvaluationPlan:
    """Build the plan from the arguments. Raises UsageError for invalid values, DataError for question files."""
    from app.commands.options import checked_k, sampling
    from app.commands.policy_options import run_policies
    from app.commands.verifier_options import check_threshold, verifier_choice, verifier_source
    from app.judging.run_judge import VerifierChoice, VerifierPlan
    from app.runs.decoding_grid import SEVERAL, decoding_grid
    from app.runs.evaluate import EvaluationPlan
    from data.loaders import load_question_files
    from data.samples_paths import sample_question_paths
    from evaluation.runs.run_config import Decoding

    arms, policies = run_policies(arguments)
    if arms is not None and arguments.temperature is None and any("best_of_n" in arm for arm in arms):
        arguments = argparse.Namespace(**(vars(arguments) | {"temperature": SEVERAL}))
    params = sampling(arguments)
    judging = VerifierPlan(
        cast("VerifierChoice", verifier_choice(arguments)),
        arguments.verifier_model,
        arguments.trusted,
        arguments.threshold,
        source=verifier_source(arguments),
    )
    if arguments.limit is not None and arguments.limit < 1:
        raise UsageError(f"--limit is {arguments.limit}: it must be at least 1")
    check_threshold(arguments)
    single = Decoding(
        params.temperature,
        params.top_k,
        params.top_p,
        params.max_tokens,
        params.stop,
        params.min_p,
        params.repetition_penalty,
    )
    lists = (arguments.temperatures, arguments.top_ps, arguments.top_ks)
    # Signals need the verdict on an additional greedy answer. Other runs do not.
    greedy = arguments.signals is not None or any(given is not None for given in lists)
    grid = decoding_grid(single, *lists, greedy=greedy)
    paths: list[Path] = []
    for name in arguments.questions:
        paths.extend(sample_question_paths() if name == "samples" else [Path(name)])
    return EvaluationPlan(
        questions=load_question_files(paths)[: arguments.limit],
        arms=arms,
        collection=arguments.collection,
        samples=params.n,
        k=checked_k(arguments),
        mode=arguments.mode,
        fusion=arguments.fusion,
        decoding=grid.headline,
        grid=grid.others,
        seed=params.seed,
        judging=judging,
        policies=policies,
    )
