"""Run policies on the answers of a run. Policies of one question share equal draws and judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol

from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.evidence.passages import Searcher
from evaluation.guarantee.answers import answer_score
from evaluation.outcomes import AnswerEvaluation
from evaluation.policies.candidate import Candidate
from evaluation.policies.merging import merged_passages
from evaluation.policies.plan import PolicyPlan
from evaluation.policies.record import PolicyRecord, policy_record
from evaluation.policies.running import run_now, run_policies
from evaluation.runs.records import storable
from evaluation.runs.run_config import Decoding
from evaluation.runs.seeds import derive_seed
from generation.completion import Completion
from generation.generator import Generator
from generation.prompt import Prompt


class SelectorError(EvaluationError):
    """Raised when the selecting verifier fails on a question."""


class Selector(Protocol):
    """Interface of the verifier whose scores the policies use. It judges answers by the passages of their prompts."""

    @property
    def name(self) -> str:
        """Name under which its verdicts are stored."""

    def evaluate(self, question: str, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        """Return one evaluation per answer. Raises the errors of its scorer."""


@dataclass(frozen=True, slots=True)
class PolicySlot:
    """A sample of a question to answer with policies.

    seed: seed of its first draw.
    run: base seed of the run.
    base: name of the arm whose draws the policies use. It is a part of all seeds.
    """

    question: Question
    prompt: Prompt
    decoding: Decoding
    sample: int
    seed: int
    run: int
    base: str

    def further_seed(self, use: str, number: int) -> int:
        """Return the seed of a further draw. It depends only on the slot and the arguments.

        use: name of the policy that draws.
        number: number of the draw.
        """
        arm = f"{self.base} {use} {number}"
        return derive_seed(self.run, self.question.id, arm, self.decoding.label, self.sample)


@dataclass(frozen=True, slots=True)
class PolicyAnswer:
    """The answer that policies give. evaluation: the selecting verifier's evaluation of the final text."""

    candidate: Candidate
    evaluation: AnswerEvaluation
    record: PolicyRecord

    @property
    def completion(self) -> Completion:
        """Completion with the final text and the drawn tokens."""
        return self.candidate.completion

    @property
    def prompt(self) -> Prompt:
        """Prompt from which the completion was drawn."""
        return self.candidate.prompt


@dataclass(slots=True)
class _QuestionCache:
    """Cache of the draws and evaluations of one question, with the seconds that they took.

    Completions have storable texts.
    """

    question: str
    draws: dict[tuple[tuple[int, ...], str, tuple[int, ...]], tuple[tuple[Completion, ...], float]]
    judged: dict[tuple[tuple[int, ...], str], tuple[AnswerEvaluation, float]]


class PolicyRunner:
    """Generator, searcher and selecting verifier that answer slots with policies, one question after another."""

    def __init__(self, generator: Generator, selector: Selector, searcher: Searcher, k: int) -> None:
        """Create the runner.

        searcher, k: the arm's searcher and number of chunks, for further rounds of correction.
        """
        self.selector = selector
        self._generator, self._searcher, self._k = generator, searcher, k
        self._known = _QuestionCache("", {}, {})
        self._saved = 0.0

    def prepare(self, slots: Sequence[PolicySlot]) -> None:
        """Draw the first answers of one question by one decoding in one call. Raises the errors of the generator."""
        first = slots[0]
        drawn, seconds = self.draw(first, first.prompt, tuple(slot.seed for slot in slots))
        for slot, completion in zip(slots, drawn, strict=True):
            key = (slot.prompt.token_ids, slot.decoding.label, (slot.seed,))
            self._known.draws.setdefault(key, ((completion,), seconds / len(slots)))

    def draw(self, slot: PolicySlot, prompt: Prompt, seeds: tuple[int, ...]) -> tuple[tuple[Completion, ...], float]:
        """Return completions, drawn now or cached, and the seconds that drawing took.

        Raises the errors of the generator, and EvaluationError if the number of completions is wrong.
        """
        if self._known.question != slot.question.id:
            self._known = _QuestionCache(slot.question.id, {}, {})
        key = (prompt.token_ids, slot.decoding.label, seeds)
        if key not in self._known.draws:
            started = perf_counter()
            drawn = self._generator.generate(prompt, slot.decoding.params(len(seeds)), seeds)
            if len(drawn) != len(seeds):
                raise EvaluationError(f"{len(drawn)} completions came back for {len(seeds)} seeds")
            clean = tuple(replace(c, text=storable(c.text)) for c in drawn)
            self._known.draws[key] = (clean, perf_counter() - started)
            return self._known.draws[key]
        self._saved += self._known.draws[key][1]
        return self._known.draws[key]

    def judge(self, question: Question, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        """Return the evaluations by the selecting verifier. Raises SelectorError if it fails."""
        keys = [(prompt.token_ids, completion.text) for prompt, completion in answers]
        known = self._known.judged
        new = {key: pair for key, pair in zip(keys, answers, strict=True) if key not in known}
        self._saved += sum(known[key][1] for key in dict.fromkeys(keys) if key in known)
        if new:
            started = perf_counter()
            try:
                evaluations = self.selector.evaluate(question.text, list(new.values()))
            except Exception as error:  # one question must not end the run
                raise SelectorError(f"the selecting verifier failed: {type(error).__name__}: {error}"[:500]) from error
            each = (perf_counter() - started) / len(new)
            known.update({key: (own, each) for key, own in zip(new, evaluations, strict=True)})
        return tuple(known[key][0] for key in keys)

    def answer(self, slot: PolicySlot, plan: PolicyPlan, samples: int) -> PolicyAnswer:
        """Return the slot's answer after the policies.

        samples: number of answers from which ``best_of_n`` chooses; 1 without ``best_of_n``.

        Raises SelectorError if the selecting verifier fails, and the errors of searcher and generator.
        """
        further = (slot.further_seed("best_of_n", number) for number in range(1, samples))
        self._saved = 0.0
        drawn, seconds = self.draw(slot, slot.prompt, (slot.seed, *further))
        self._saved = 0.0  # the seconds of this draw are passed as drawing_s
        outcome = run_now(
            run_policies(
                plan,
                slot.question.text,
                slot.prompt,
                drawn,
                _Tools(self, slot),
                verifier=self.selector.name,
                drawing_s=seconds,
            )
        )
        saved = self._saved
        (candidate,) = outcome.answers
        evaluation = candidate.evaluation
        if not plan.judges:  # reports show these scores, which are not a cost of the policy
            (evaluation,) = self.judge(slot.question, [(candidate.prompt, candidate.completion)])
        return PolicyAnswer(candidate, evaluation, policy_record(outcome, answer_score(evaluation), saved))

    def search(self, slot: PolicySlot, query: str, earlier: Prompt) -> Prompt:
        """Return a prompt that adds the passages found for a query to those of the earlier prompt."""
        (found,) = self._searcher.retrieve_many((query,), self._k)
        return self._generator.prompt(slot.question.text, merged_passages(found, earlier), slot.decoding.max_tokens)


@dataclass(frozen=True, slots=True)
class _Tools:
    """PolicyTools of one slot. Its coroutines return without waiting."""

    runner: PolicyRunner
    slot: PolicySlot

    @property
    def longest(self) -> int:
        return self.slot.decoding.max_tokens

    async def judge(self, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        return self.runner.judge(self.slot.question, answers)

    async def search(self, query: str, earlier: Prompt) -> Prompt:
        return self.runner.search(self.slot, query, earlier)

    async def draw(self, prompt: Prompt, number: int) -> Completion:
        ((completion,), _) = self.runner.draw(self.slot, prompt, (self.slot.further_seed("correct", number),))
        return completion
