"""Define PolicyPlan, the policies to run with their order, threshold and budgets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from evaluation.errors import EvaluationError
from evaluation.policy_names import ORDER, PolicyName

THRESHOLD = 0.5
POLICY_SAMPLES = 4
"""Number of samples from which ``best_of_n`` chooses in a run, unless the arm gives another number."""
ROUNDS, TOKENS = 2, 8192
MOST_ROUNDS, MOST_TOKENS = 16, 1_000_000


class PolicyError(EvaluationError):
    """Raised for an invalid policy or an invalid setting of a policy. parameter: name of the invalid parameter."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter


@dataclass(frozen=True, slots=True)
class PolicyPlan:
    """Policies to run with their settings.

    names: names of the policies in running order, each once.
    threshold: threshold in [0, 1] for a claim's support and an answer's score.
    rounds, tokens: budget of ``correct`` for one question. Tokens of prompts and answers count together.
    certified: threshold of ``abstain`` if a certificate sets it; None to use ``threshold``. Other policies use
        ``threshold``.

    Raises PolicyError for invalid values.
    """

    names: tuple[PolicyName, ...] = ("none",)
    threshold: float = THRESHOLD
    rounds: int = ROUNDS
    tokens: int = TOKENS
    certified: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.threshold) and 0.0 <= self.threshold <= 1.0):
            raise PolicyError("threshold", f"threshold is {self.threshold}: it must lie between 0 and 1")
        for name, value, most in (
            ("correct_rounds", self.rounds, MOST_ROUNDS),
            ("correct_tokens", self.tokens, MOST_TOKENS),
        ):
            if not 1 <= value <= most:
                raise PolicyError(name, f"{name} is {value}: the budget must lie between 1 and {most}")

    @property
    def judges(self) -> bool:
        """Whether the policies need a verifier."""
        return self.names != ("none",)

    @property
    def needs_redraw(self) -> bool:
        """Whether the model may answer again with other passages."""
        return "correct" in self.names

    @property
    def abstains_below(self) -> float:
        """Score below which ``abstain`` withholds an answer."""
        return self.threshold if self.certified is None else self.certified

    @property
    def changes_texts(self) -> bool:
        """Whether the given answer may differ from the first drawn one (other than by ``abstain``)."""
        return not {"strip", "best_of_n", "correct"}.isdisjoint(self.names)

    def certified_name(self, samples: int) -> str:
        """Return the name of the policies in a certificate: those that change the answer, with their settings.

        samples: number of answers from which ``best_of_n`` chooses.

        ``flag`` does not change the text and is left out, so that ``flag,abstain`` is certified as ``abstain``. The
        threshold of ``abstain`` is left out too, because the certificate sets it.
        """
        threshold = f"threshold={self.threshold!r}"
        settings = {
            "strip": f"({threshold})",
            "best_of_n": f"(n={samples} {threshold})",
            "correct": f"(rounds={self.rounds} tokens={self.tokens} {threshold})",
        }
        named = [f"{name}{settings.get(name, '')}" for name in self.names if name not in ("none", "flag")]
        return ",".join(named) or "none"


def policy_names(given: Sequence[str]) -> tuple[PolicyName, ...]:
    """Return the named policies in running order.

    Raises PolicyError if there is no name, an unknown name or a repeated name, or if "none" is combined with others.
    """
    names = [name.strip() for name in given]
    for name in names:
        if name not in ORDER:
            raise PolicyError("policy", f"there is no policy {name[:40]!r}: choose from {', '.join(ORDER)}")
        if names.count(name) > 1:
            raise PolicyError("policy", f"policy {name!r} is named {names.count(name)} times: name each once")
    if not names:
        raise PolicyError("policy", f"no policy is named: choose from {', '.join(ORDER)}")
    if "none" in names and len(names) > 1:
        raise PolicyError("policy", f"policy 'none' cannot be combined with others ({', '.join(names)}): omit it")
    return tuple(name for name in ORDER if name in cast("list[PolicyName]", names))


def check_samples(plan: PolicyPlan, samples: int, temperature: float) -> None:
    """Raise PolicyError if the policies cannot be applied to this number of samples or at this temperature."""
    if "best_of_n" in plan.names:
        if samples < 2:
            raise PolicyError("n", f"n is {samples}: best_of_n needs at least 2 samples")
        if temperature == 0:
            raise PolicyError(
                "temperature", "temperature is 0: best_of_n needs a temperature above 0, so that samples differ"
            )
    elif "correct" in plan.names and samples > 1:
        raise PolicyError("n", f"n is {samples}: correct needs one answer, so set n to 1 or add best_of_n")
