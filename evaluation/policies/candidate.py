"""Define Candidate, a drawn answer with its verdicts, which policies change."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evaluation.guarantee.answers import answer_score
from evaluation.outcomes import AnswerEvaluation, Verdict
from generation.completion import Completion
from generation.prompt import Prompt

DECLINED = "The documents do not say."
"""Text that replaces an answer that a policy withholds."""
_CHANGED = "the policy changed the text, so that the drawn tokens are no longer those of the answer"


@dataclass(frozen=True, slots=True)
class Removed:
    """A span that a policy removed from an answer.

    start, end: offsets in the text before the cut.
    support: support of the claim in [0, 1]; None if it is unscored or not a claim.
    reason: why it was removed.
    """

    policy: str
    text: str
    start: int
    end: int
    support: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer with its verdicts.

    completion: the answer with its current text.
    prompt: prompt from which it was drawn.
    evaluation: the verifier's evaluation of the current text.
    score: score of the answer as drawn, in [0, 1]; None if it has none (see ``answer_score``).
    removed: spans that policies removed.
    withheld: why it was replaced by ``DECLINED``; "" if it was not.
    """

    completion: Completion
    prompt: Prompt
    evaluation: AnswerEvaluation
    score: float | None
    removed: tuple[Removed, ...] = ()
    withheld: str = ""

    @property
    def text(self) -> str:
        """Current text of the answer."""
        return self.completion.text

    @property
    def score_now(self) -> float | None:
        """Score of the current text; None if it has none."""
        return answer_score(self.evaluation)

    def unsupported(self, threshold: float) -> tuple[Verdict, ...]:
        """Return the verdicts on claims with a support below the threshold. Unscored claims are left out."""
        return tuple(v for v in self.evaluation.verdicts if v.support is not None and v.support < threshold)

    def rewritten(
        self, completion: Completion, evaluation: AnswerEvaluation, removed: tuple[Removed, ...]
    ) -> Candidate:
        """Return the candidate with another text.

        Log-probabilities of the drawn tokens are removed, and so is the reasoning, which may state removed claims.
        """
        kept = replace(
            completion, token_ids=(), token_logprobs=(), top_logprobs=(), logprobs_missing=_CHANGED, thought=""
        )
        return replace(self, completion=kept, evaluation=evaluation, removed=(*self.removed, *removed))

    def withhold(self, policy: str, reason: str, removed: tuple[Removed, ...] = ()) -> Candidate:
        """Return the candidate with ``DECLINED`` in place of the text.

        policy, reason: the policy that withholds the answer, and why.
        removed: removed spans. By default the complete text is recorded as removed.
        """
        if not removed and self.text.strip():
            removed = (Removed(policy, self.text, 0, len(self.text), self.score_now, reason),)
        declined = replace(self.completion, text=DECLINED, citations=())
        return replace(self.rewritten(declined, AnswerEvaluation("abstained", ()), removed), withheld=reason)


def judged_candidate(completion: Completion, prompt: Prompt, evaluation: AnswerEvaluation) -> Candidate:
    """Return the candidate of an answer as it was drawn and judged."""
    return Candidate(completion, prompt, evaluation, answer_score(evaluation))
