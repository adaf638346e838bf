"""Candidate: a drawn answer with its verdicts, on its way through the policies."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evaluation.guarantee.answers import answer_score
from evaluation.outcomes import AnswerEvaluation, Verdict
from generation.completion import Completion
from generation.prompt import Prompt

DECLINED = "The documents do not say."
"""What is answered in place of an answer that a policy withholds."""
_CHANGED = "the policy changed the text, so that the drawn tokens are no longer those of the answer"


@dataclass(frozen=True, slots=True)
class Removed:
    """A stretch that a policy took out of an answer. start, end: offsets into the text before the cut.

    support: of the claim in [0, 1], None where it was unscored or no claim. reason: why it was removed.
    """

    policy: str
    text: str
    start: int
    end: int
    support: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer. prompt: what it was drawn from. evaluation: the verifier's verdicts on the text as it is now.

    score: of the answer as drawn, in [0, 1], None where it has none (see ``answer_score``). removed: what policies took
    out of it. withheld: why it was replaced by ``DECLINED``, "" where it was not.
    """

    completion: Completion
    prompt: Prompt
    evaluation: AnswerEvaluation
    score: float | None
    removed: tuple[Removed, ...] = ()
    withheld: str = ""

    @property
    def text(self) -> str:
        """The answer as it is now."""
        return self.completion.text

    @property
    def score_now(self) -> float | None:
        """The score of the text as it is now."""
        return answer_score(self.evaluation)

    def unsupported(self, threshold: float) -> tuple[Verdict, ...]:
        """Verdicts on claims whose support is below the threshold; unscored ones have no support and are left out."""
        return tuple(v for v in self.evaluation.verdicts if v.support is not None and v.support < threshold)

    def rewritten(
        self, completion: Completion, evaluation: AnswerEvaluation, removed: tuple[Removed, ...]
    ) -> Candidate:
        """With another text, and without the log-probabilities of the drawn one and its reasoning, which may state what
        was removed.
        """
        kept = replace(
            completion, token_ids=(), token_logprobs=(), top_logprobs=(), logprobs_missing=_CHANGED, thought=""
        )
        return replace(self, completion=kept, evaluation=evaluation, removed=(*self.removed, *removed))

    def withhold(self, policy: str, reason: str, removed: tuple[Removed, ...] = ()) -> Candidate:
        """With ``DECLINED`` in place of the text. removed: None given, the whole text is recorded as removed."""
        if not removed and self.text.strip():
            removed = (Removed(policy, self.text, 0, len(self.text), self.score_now, reason),)
        declined = replace(self.completion, text=DECLINED, citations=())
        return replace(self.rewritten(declined, AnswerEvaluation("abstained", ()), removed), withheld=reason)


def judged(completion: Completion, prompt: Prompt, evaluation: AnswerEvaluation) -> Candidate:
    """A candidate as it was drawn and judged."""
    return Candidate(completion, prompt, evaluation, answer_score(evaluation))
