"""Parse and evaluate conditions on the figures of a run, as in ``--fail-if "hall_all.upper > 0.10"``.

A condition is ``NAME.FIELD OP NUMBER``. Conditions are joined by ``and`` and ``or``; ``and`` binds tighter. If a figure
is undefined, its condition counts as met, so that a gate fails if nothing was measured.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.errors import UsageError
from evaluation.statistics.estimates import HallucinationEstimate
from evaluation.statistics.run_summary import RunSummary

FIELDS = ("rate", "lower", "upper", "questions", "responses")
QUANTITIES = ("hall", "hall_answered", "hall_scored", "supported", "abstained", "unscored", "worst")
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
_TERM = re.compile(
    r"\s*(?P<name>\w+)(?:\.(?P<field>\w+))?\s*(?P<operator>>=|<=|==|!=|>|<)\s*"
    r"(?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<percent>%?)\s*"
)


@dataclass(frozen=True, slots=True)
class Term:
    """One comparison of a figure with a number. text: source text."""

    name: str
    field: str
    operator: str
    number: float
    text: str


@dataclass(frozen=True, slots=True)
class Gate:
    """A parsed condition: a disjunction (or) of conjunctions (and) of terms. text: source text."""

    text: str
    any_of: tuple[tuple[Term, ...], ...]


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of a gate. failed: whether the condition is met. reasons: the deciding terms, with their figures."""

    failed: bool
    reasons: tuple[str, ...]


def parse_gate(text: str) -> Gate:
    """Parse a condition. Raises UsageError, which explains the syntax, for an invalid one."""
    any_of = []
    for part in re.split(r"\bor\b", text):
        any_of.append(tuple(_term(term, text) for term in re.split(r"\band\b", part)))
    return Gate(text, tuple(any_of))


def check_names(gate: Gate, names: Iterable[str]) -> None:
    """Raise UsageError, which lists the known figures, if the gate names another one."""
    known = list(names)
    for term in (t for terms in gate.any_of for t in terms):
        if term.name not in known:
            raise UsageError(
                f"--fail-if {gate.text!r}: there is no figure {term.name!r}; choose from {', '.join(known)}, each with "
                + ", ".join(f".{f}" for f in FIELDS)
            )


def apply_gate(gate: Gate, figures: Mapping[str, HallucinationEstimate]) -> GateResult:
    """Evaluate a condition. figures: name -> estimate. Raises UsageError as ``check_names`` does."""
    check_names(gate, figures)
    reasons: list[str] = []
    failed = False
    for terms in gate.any_of:
        results = [_met(term, figures[term.name]) for term in terms]
        if all(met for met, _ in results):
            failed = True
            reasons.extend(reason for _, reason in results)
    return GateResult(failed, tuple(dict.fromkeys(reasons)))


def summary_figures(summary: RunSummary) -> dict[str, HallucinationEstimate]:
    """Return every figure that a condition may name.

    These are ``hall_ARM``, ``hall_answered_ARM``, ``hall_scored_ARM``, ``supported_ARM``, ``abstained_ARM``,
    ``unscored_ARM``, ``worst_ARM`` (unscored responses count as hallucinated) and ``diff_ARM1_ARM2``. If there is only
    one arm, the names without it exist as well: ``hall_all``, ``hall_answered``, ... In arm names every character
    except letters and digits becomes ``_``. If two arms then have the same name, the second gets the suffix ``_2``.
    """
    figures: dict[str, HallucinationEstimate] = {}
    words = arm_words([arm.arm for arm in summary.arms])
    for arm in summary.arms:
        estimates = (
            *(arm.hallucinated.default, arm.hall_answered.default, arm.hall_scored.default, arm.supported.default),
            *(arm.abstained.default, arm.unscored.default, arm.hall_if_unscored_hallucinated),
        )
        measured = dict(zip(QUANTITIES, estimates, strict=True))
        if len(summary.arms) == 1:
            for name, estimate in measured.items():
                figures["hall_all" if name == "hall" else name] = estimate
        for name, estimate in measured.items():
            figures.setdefault(f"{name}_{words[arm.arm]}", estimate)
    for pair in summary.pairs:
        figures.setdefault(f"diff_{words[pair.baseline]}_{words[pair.other]}", pair.difference.default)
    return figures


def figure_names(arms: Sequence[str], pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the names that ``summary_figures`` will have for these arms and pairs. Needs no run."""
    words = arm_words(arms)
    without_arm = tuple("hall_all" if name == "hall" else name for name in QUANTITIES) if len(arms) == 1 else ()
    with_arm = tuple(f"{name}_{words[arm]}" for arm in arms for name in QUANTITIES)
    differences = (f"diff_{words[one]}_{words[two]}" for one, two in pairs)
    return tuple(dict.fromkeys((*without_arm, *with_arm, *differences)))


def arm_words(arms: Sequence[str]) -> dict[str, str]:
    """Return the name of each arm in conditions: arm -> name."""
    words: dict[str, str] = {}
    for arm in arms:
        word, n = _word(arm), 1
        while word in words.values():
            n += 1
            word = f"{_word(arm)}_{n}"
        words[arm] = word
    return words


def _word(arm: str) -> str:
    return re.sub(r"\W+", "_", arm).strip("_") or "arm"


def _term(text: str, condition: str) -> Term:
    match = _TERM.fullmatch(text)
    if match is None:
        raise UsageError(
            f"--fail-if {condition!r}: {text.strip()!r} is not a condition; write NAME.FIELD OP NUMBER, such as "
            '"hall_all.upper > 0.10", and join several by "or" and "and"'
        )
    field = match["field"] or "rate"
    if field not in FIELDS:
        raise UsageError(f"--fail-if {condition!r}: there is no field {field!r}; choose from {', '.join(FIELDS)}")
    number = float(match["number"]) / (100.0 if match["percent"] else 1.0)
    return Term(match["name"], field, match["operator"], number, text.strip())


def _met(term: Term, estimate: HallucinationEstimate) -> tuple[bool, str]:
    value: float | None = getattr(estimate, term.field)
    if value is None:
        return True, f"{term.text}: {term.name} is undefined ({estimate.reason}), which counts as a met condition"
    return _OPERATORS[term.operator](value, term.number), f"{term.text}: {term.name}.{term.field} is {value:.4g}"
