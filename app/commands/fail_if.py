"""The option --fail-if of commands with a summary: declare, check and evaluate it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.console import Output

if TYPE_CHECKING:
    import argparse

    from app.gate import Gate
    from evaluation.statistics.estimates import HallucinationEstimate


def add_fail_if(parser: argparse._ActionsContainer) -> None:
    """Declare --fail-if."""
    parser.add_argument(
        "--fail-if",
        metavar="CONDITION",
        help='exit with code 3 if the condition is met, e.g. "hall_rag.upper > 0.10" (see docs/score.md)',
    )


def checked_gate(condition: str | None, arms: Sequence[str] = ()) -> Gate | None:
    """Parse the condition and return it, or None if there is none.

    arms: arms of the planned run, to reject unknown figures before the run. Raises UsageError for a condition that
    cannot be parsed, or a figure that the run will not have.
    """
    from app.gate import arm_words, check_names, figure_names, parse_gate
    from app.labelling.figures import corrected_names
    from evaluation.statistics.summary import default_pairs

    if condition is None:
        return None
    gate = parse_gate(condition)
    if arms:
        pairs = default_pairs(arms, "closed_book")
        check_names(gate, (*figure_names(arms, pairs), *corrected_names(arm_words(arms), pairs)))
    return gate


def gate_code(
    gate: Gate | None, figures: Mapping[str, HallucinationEstimate], output: Output
) -> tuple[bool, dict[str, Any]]:
    """Evaluate the condition and return (whether it is met, its part of the JSON document).

    Prints a message on stderr if the condition is met. Raises UsageError for an unknown figure.
    """
    from app.gate import apply_gate  # Imported here because it loads numpy.

    if gate is None:
        return False, {}
    result = apply_gate(gate, figures)
    if result.failed:
        output.info(f"--fail-if {gate.text!r} is met: {'; '.join(result.reasons)}")
    return result.failed, {
        "fail_if": {"condition": gate.text, "failed": result.failed, "because": list(result.reasons)}
    }
