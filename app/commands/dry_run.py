"""``plumbline evaluate --dry-run``: estimate the cost of a run and print it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from app.console import Output
from app.errors import EXIT_OK

if TYPE_CHECKING:
    from app.runs.evaluate import EvaluationPlan
    from evaluation.runs.dry_run import DryRun


def show_dry_run(arguments: argparse.Namespace, plan: EvaluationPlan, output: Output, pipeline: Any) -> int:
    """Print the estimated cost of the run and return the exit code."""
    from dataclasses import asdict

    from app.runs.evaluate import dry_run, judge_of, run_id_of, with_arms
    from app.runs.forced_drift import estimate_forced

    plan = with_arms(pipeline, plan)
    if plan.left_out:
        output.info(f"{plan.left_out}.")
    judge = judge_of(pipeline, plan)
    estimate = dry_run(pipeline, plan, judge)
    forced = estimate_forced(pipeline, plan, run_id_of(pipeline, plan, judge)) if arguments.forced_drift else None
    if output.as_json:
        output.json(asdict(estimate) | ({"forced": asdict(forced)} if forced else {}))
        return EXIT_OK
    _show_dry(estimate, output)
    if forced is not None:
        output.data("for --forced-drift:")
        _show_dry(forced, output)
    return EXIT_OK


def _show_dry(estimate: DryRun, output: Output) -> None:
    output.data(f"{estimate.cells} prompts (questions times arms), {estimate.committed} of them already done")
    output.data(f"{estimate.generations} generations left")
    if estimate.seconds is None or estimate.fastest_s is None or estimate.slowest_s is None:
        output.data(f"time is unknown: {estimate.reason or 'nothing is left to generate'}")
        return
    output.data(
        f"about {estimate.prompt_tokens} prompt tokens and {estimate.new_tokens} new tokens "
        f"(at most {estimate.most_new_tokens})"
    )
    output.data(
        f"about {_span(estimate.seconds)} on this machine (between {_span(estimate.fastest_s)} and "
        f"{_span(estimate.slowest_s)}, measured on {estimate.probed} prompts)"
    )
    if estimate.failed:
        output.info(f"{estimate.failed} prompts failed, the last with: {estimate.reason}")


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
