"""Implement the policy ``correct``, which searches for unsupported claims and answers again, within a budget."""

from __future__ import annotations

from dataclasses import replace

from evaluation.policies.candidate import Candidate, judged_candidate
from evaluation.policies.policy import Draft, PolicyTools, Round
from generation.prompt import Prompt

_MOST_CHARACTERS = 1000
_SHOWN = 80


class Correct:
    """A policy with rounds of search, answer and judgement. A new answer replaces an earlier one with a lower score.

    The query is the question followed by the least supported claim that was not yet searched for. If it finds no new
    passage, the claim alone is the query. A claim that leads to the same prompt is skipped. A round begins only if its
    prompt and the longest possible answer fit into the remaining token budget.
    """

    name = "correct"

    def __init__(self, threshold: float, rounds: int, tokens: int) -> None:
        """Create the policy.

        threshold: support below which a claim is searched for.
        rounds: maximum number of rounds per question.
        tokens: maximum number of tokens per question, of prompts and answers together.
        """
        self._threshold, self._rounds, self._tokens = threshold, rounds, tokens

    async def apply(self, draft: Draft, tools: PolicyTools) -> Draft:
        """Return the draft with the answer after all rounds. The draft must have one answer (see ``check_samples``)."""
        (best,) = draft.candidates
        rounds: list[Round] = []
        questions: set[str] = set()
        remaining = self._tokens
        notes: list[str] = []
        while len(rounds) < self._rounds:
            claim = next((c for c in self._open_claims(best) if c not in questions), None)
            if claim is None:
                break
            questions.add(claim)
            query, prompt, found = await _search(draft.question, claim, best.prompt, tools)
            if prompt.token_ids == best.prompt.token_ids:
                notes.append(f"correct found no other passages for {claim[:_SHOWN]!r}")
                continue
            if len(prompt.token_ids) + tools.longest > remaining:
                notes.append(
                    f"correct stopped before round {len(rounds) + 1}: its prompt of {len(prompt.token_ids)} tokens and "
                    f"an answer of up to {tools.longest} do not fit the remaining {remaining} tokens of the budget"
                )
                break
            completion = await tools.draw(prompt, len(rounds) + 1)
            (evaluation,) = await tools.judge([(prompt, completion)])
            new = judged_candidate(completion, prompt, evaluation)
            better = _value(new) > _value(best)
            used = completion.usage
            rounds.append(
                Round(query, claim, new.text, new.score, better, found, used.prompt_tokens, used.completion_tokens)
            )
            remaining -= used.prompt_tokens + used.completion_tokens
            if better:
                best = new
        return replace(draft, candidates=(best,), rounds=(*draft.rounds, *rounds), notes=(*draft.notes, *notes))

    def _open_claims(self, candidate: Candidate) -> list[str]:
        """Return the claims to search for, the least supported first.

        These are claims of the text, or the removed claims of a withheld answer.
        """
        failing = sorted(candidate.unsupported(self._threshold), key=lambda v: v.support or 0.0)
        cut = [r.text for r in candidate.removed] if candidate.withheld else []
        return list(dict.fromkeys([*(v.claim.text for v in failing), *cut]))


async def _search(question: str, claim: str, earlier: Prompt, tools: PolicyTools) -> tuple[str, Prompt, int]:
    """Return the query, the prompt, and the number of its passages that the earlier prompt does not have."""
    known = {chunk.retrieved.chunk.id for chunk in earlier.chunks}
    tried: list[tuple[str, Prompt, int]] = []
    for query in (f"{question[:_MOST_CHARACTERS]} {claim[:_MOST_CHARACTERS]}", claim[:_MOST_CHARACTERS]):
        prompt = await tools.search(query, earlier)
        tried.append((query, prompt, sum(chunk.retrieved.chunk.id not in known for chunk in prompt.chunks)))
        if tried[-1][2]:
            break
    return max(tried, key=lambda one: one[2])  # the first one among equals


def _value(candidate: Candidate) -> float:
    return -1.0 if candidate.score_now is None else candidate.score_now
