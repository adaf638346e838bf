"""``plumbline plan --alpha``: compute the number of labels for a certificate, and print a table or JSON."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from app.console import Output
from app.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from evaluation.guarantee.label_needs import LabelNeeds


def plan_certificate(arguments: argparse.Namespace, output: Output) -> int:
    """Print the plan and return the exit code. Raises UsageError for numbers out of range, or if a RUN is given."""
    from evaluation.errors import EvaluationError
    from evaluation.guarantee.label_needs import label_needs

    if arguments.run_id is not None:
        raise UsageError("--alpha plans from numbers: omit RUN, and give --answer-rate and --rate")
    rates = () if arguments.rate is None else (arguments.rate,)
    try:
        plans = label_needs(arguments.alpha, arguments.delta, arguments.answer_rate, rates, arguments.power)
    except EvaluationError as error:
        raise UsageError(str(error)) from None
    if output.as_json:
        output.json({"delta": arguments.delta, "certificates": [asdict(plan) for plan in plans]})
        return EXIT_OK
    for plan in plans:
        _show(plan, output)
    output.info("rate: hallucinated share of the answers above the threshold; labels: one per question")
    return EXIT_OK


def _show(plan: LabelNeeds, output: Output) -> None:
    output.data(
        f"alpha {plan.alpha:g} at level {plan.level:g}: at least {plan.fewest} answered labels; for a "
        f"certificate with probability {plan.power:.0%}, if {plan.answer_rate:.0%} are answered:"
    )
    output.data(f"{'true rate':>10} {'answered':>9} {'labels':>9}")
    for need in plan.needs:
        answered, labels = (f"{n:,}" if n is not None else "never" for n in (need.answered, need.labels))
        output.data(f"{100 * need.rate:>8.2f} % {answered:>9} {labels:>9}")
