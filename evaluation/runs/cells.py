"""One cell of an experiment: a question in an arm is shown, sampled n times and judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from data.questions import Question
from evaluation.claims import Extraction
from evaluation.errors import EvaluationError
from evaluation.outcomes import AnswerEvaluation, Verdict, outcome_of
from evaluation.runs.arms import Arm, MissingGoldError
from evaluation.runs.records import Failure, SampleRecord, storable
from evaluation.runs.run_config import RunConfig
from evaluation.runs.seeds import derive_seed
from evaluation.verifiers.verifier import VerificationItem, Verifier
from generation.completion import Completion
from generation.generator import Generator
from generation.prompt import Prompt

_STEPS = {"retrieval": "search", "prompt": "prompt", "generator": "generator"}


class CellDrawer:
    """Draws and judges one cell at a time. A failure that concerns one cell makes its samples unscored."""

    def __init__(self, config: RunConfig, generator: Generator, verifier: Verifier) -> None:
        self._config = config
        self._generator = generator
        self._verifier = verifier
        self._params = config.decoding.params(config.samples)

    def draw(self, question: Question, arm: Arm) -> tuple[SampleRecord, ...]:
        """The cell's samples, in order, each with an outcome. Raises nothing but what is no Exception (Ctrl-C)."""
        label = self._config.decoding.label
        seeds = [derive_seed(self._config.seed, question.id, arm.name, label, i) for i in range(self._config.samples)]
        step: Failure = "retrieval"
        try:
            chunks = arm.chunks(question)
            step = "prompt"
            prompt = self._generator.prompt(question.text, chunks, self._params.max_tokens)
            step = "generator"
            completions = self._generator.generate(prompt, self._params, seeds)
            if len(completions) != len(seeds):
                raise EvaluationError(f"{len(completions)} completions came back for {len(seeds)} seeds")
        except MissingGoldError as error:
            return self._unscored(question, arm, seeds, str(error), "gold")
        except Exception as error:  # one question must not end the run; see FAILURES_IN_A_ROW
            reason = f"the {_STEPS[step]} failed: {_said(error)}"
            return self._unscored(question, arm, seeds, reason, step)
        completions = tuple(replace(c, text=storable(c.text)) for c in completions)
        return self._judge(question, arm, seeds, prompt, completions)

    def _unscored(
        self, question: Question, arm: Arm, seeds: Sequence[int], reason: str, failure: Failure
    ) -> tuple[SampleRecord, ...]:
        evaluation = AnswerEvaluation("unscored", (), storable(reason))
        label = self._config.decoding.label
        return tuple(
            SampleRecord(question.id, arm.name, label, i, seed, None, (), (), evaluation, failure)
            for i, seed in enumerate(seeds)
        )

    def _judge(
        self,
        question: Question,
        arm: Arm,
        seeds: Sequence[int],
        prompt: Prompt,
        completions: Sequence[Completion],
    ) -> tuple[SampleRecord, ...]:
        said = [self._verifier.extract(question, c.text) for c in completions]
        failed, verdicts = self._verdicts(question, said, completions)
        omitted = tuple(r.chunk.id for r in prompt.omitted)
        return tuple(
            SampleRecord(
                question_id=question.id,
                arm=arm.name,
                decoding=self._config.decoding.label,
                sample=i,
                seed=seeds[i],
                completion=completion,
                chunks=prompt.chunks,
                omitted=omitted,
                evaluation=_evaluate(completion.text, said[i], verdicts[i]),
                failure="verifier" if failed and said[i].claims else "",
            )
            for i, completion in enumerate(completions)
        )

    def _verdicts(
        self, question: Question, said: Sequence[Extraction], completions: Sequence[Completion]
    ) -> tuple[bool, list[tuple[Verdict, ...]]]:
        """Whether the verifier failed, and its verdicts for every completion, in one call for all of them."""
        items = [
            VerificationItem(question, s.claims, c.text) for s, c in zip(said, completions, strict=True) if s.claims
        ]
        failed = False
        found: Sequence[tuple[Verdict, ...]] = ()
        try:
            found = self._verifier.verify(items) if items else ()
            if [tuple(v.claim for v in verdict) for verdict in found] != [item.claims for item in items]:
                raise EvaluationError("its verdicts do not belong to the claims it was given")
        except Exception as error:  # as above: unscored with the reason, never a guess
            failed = True
            reason = storable(f"the verifier failed: {_said(error)}")
            found = [
                tuple(Verdict(c, "unscored", None, reason, (), self._verifier.name) for c in item.claims)
                for item in items
            ]
        queue = iter(found)
        return failed, [next(queue) if s.claims else () for s in said]


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _evaluate(text: str, said: Extraction, verdicts: tuple[Verdict, ...]) -> AnswerEvaluation:
    if not text.strip():
        return AnswerEvaluation("unscored", (), "the completion is empty")
    return outcome_of(verdicts, said.refused)
