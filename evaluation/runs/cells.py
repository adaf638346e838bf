"""Draw and judge the cells of an experiment. A cell is one question in one arm, sampled by all decodings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from data.block_work import WorkerError
from data.questions import Question
from evaluation.claims.extraction import Extraction
from evaluation.errors import EvaluationError
from evaluation.outcomes import AnswerEvaluation, Claim, Verdict, outcome_of
from evaluation.runs.arms import ActiveArm, Arm, MissingGoldError, NotPossibleError, PrefixedArm
from evaluation.runs.policy_arm import PolicyArm
from evaluation.runs.policy_runner import PolicyAnswer, PolicySlot, SelectorError
from evaluation.runs.records import Failure, ObservedEvent, SampleRecord, storable
from evaluation.runs.run_config import RunConfig
from evaluation.runs.seeds import derive_seed
from evaluation.verifiers.verifier import VerificationItem, Verifier
from evaluation.verifiers.verifier import failed as verdict_failed
from generation.causal.continuing import continued_prompt
from generation.completion import Completion
from generation.generator import GenerationTask, Generator, PendingCompletions, QueueingGenerator, generate_many
from generation.prompt import Prompt
from retrieval.chunking.sentences import Span

_STEPS = {"retrieval": "search", "prompt": "prompt", "generator": "generator"}


@dataclass(frozen=True, slots=True)
class _Slot:
    """A sample to draw. decoding: label of its decoding. sample: number within the decoding, from 0."""

    decoding: str
    sample: int
    seed: int


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Completions of a cell, one per slot, with their inputs.

    prompts: the prompt of each completion.
    answers: answers of the arm's policies; empty without policies.
    """

    question: Question
    arm: Arm
    slots: tuple[_Slot, ...]
    prompts: tuple[Prompt, ...]
    question_text: str
    completions: tuple[Completion, ...]
    answers: tuple[PolicyAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class StartedCell:
    """A cell whose prompt is ready.

    question_text: the arm's text for the question, "" if it is the original.
    pending: the samples in generation, or None if generation has not started.
    failed: the unscored samples of a cell that cannot be drawn. Such a cell has no prompt.
    """

    question: Question
    arm: Arm
    slots: tuple[_Slot, ...]
    prompt: Prompt | None = None
    question_text: str = ""
    pending: PendingCompletions | None = None
    failed: tuple[SampleRecord, ...] = ()

    def cancel(self) -> None:
        """Cancel the generation of this cell."""
        if self.pending is not None:
            self.pending.cancel()


class CellDrawer:
    """Generator and verifier of a run, combined to draw and judge cells.

    A failure within a cell makes its samples unscored.
    """

    def __init__(
        self, config: RunConfig, generator: Generator, verifier: Verifier, queue: QueueingGenerator | None = None
    ) -> None:
        """Create the drawer.

        queue: generates the samples for the generator's prompts. By default it is the generator itself, if it queues.
        """
        self._config = config
        self._generator = generator
        self._verifier = verifier
        self._queue: QueueingGenerator | None = queue
        if queue is None and isinstance(generator, QueueingGenerator):
            self._queue = generator
        # All decodings share one prompt, so it leaves space for the longest answer of the grid.
        self._longest = max(d.max_tokens for d in config.decodings)

    def draw(self, question: Question, arm: Arm) -> tuple[SampleRecord, ...]:
        """Return the samples of the cell by decoding and number, each with an outcome.

        Raises WorkerError, which is not a failure of the cell, and exceptions outside Exception, such as
        KeyboardInterrupt.
        """
        return self.finish(self.start(question, arm))

    @property
    def ahead(self) -> int:
        """Number of cells to start before the first of them is finished, so that the generator is never idle."""
        if self._queue is None:
            return 1
        return max(1, math.ceil(self._queue.parallel / self._config.samples_per_cell) + 1)

    def start(self, question: Question, arm: Arm) -> StartedCell:
        """Search and build the prompt, and start generation if the generator queues. Raises the errors of ``draw``."""
        slots = self._slots(question, arm)
        step: Failure = "retrieval"
        try:
            chunks = arm.chunks(question)
            question_text = arm.question_text(question) if isinstance(arm, ActiveArm) else question.text
            beginning = arm.beginning(question) if isinstance(arm, PrefixedArm) else ""
            step = "prompt"
            prompt = continued_prompt(self._generator, question_text, chunks, self._longest, beginning)
            step = "generator"
            pending = None if isinstance(arm, PolicyArm) else self._submitted(prompt, slots)
        except NotPossibleError as error:
            failure: Failure = "gold" if isinstance(error, MissingGoldError) else "arm"
            return StartedCell(question, arm, slots, failed=_unscored(question, arm, slots, str(error), failure))
        except WorkerError:
            raise
        except Exception as error:  # one question must not end the run (FAILURES_IN_A_ROW limits this)
            return StartedCell(question, arm, slots, failed=_failed(question, arm, slots, step, error))
        question_text = storable(question_text) if question_text != question.text else ""
        return StartedCell(question, arm, slots, prompt, question_text, pending)

    def finish(self, cell: StartedCell) -> tuple[SampleRecord, ...]:
        """Generate the samples, unless generation has started, and judge them. Raises the errors of ``draw``."""
        question, arm, slots, prompt = cell.question, cell.arm, cell.slots, cell.prompt
        if prompt is None:
            return cell.failed
        try:
            answers = self._policy_answers(question, arm, prompt, slots) if isinstance(arm, PolicyArm) else ()
            completions = tuple(a.completion for a in answers) or self._completions(prompt, slots, cell.pending)
        except SelectorError as error:
            return _unscored(question, arm, slots, str(error), "verifier")
        except WorkerError:
            raise
        except Exception as error:  # one question must not end the run
            return _failed(question, arm, slots, "generator", error)
        completions = tuple(replace(c, text=storable(c.text)) for c in completions)
        prompts = tuple(a.prompt for a in answers) or (prompt,) * len(completions)
        return self._judge(_Drawn(question, arm, slots, prompts, cell.question_text, completions, answers))

    def _slots(self, question: Question, arm: Arm) -> tuple[_Slot, ...]:
        config = self._config
        name = arm.base if isinstance(arm, PolicyArm) else arm.name  # policies use the draws of their base arm
        return tuple(
            _Slot(d.label, i, derive_seed(config.seed, question.id, name, d.label, i))
            for d in config.decodings
            for i in range(config.samples_of(d))
        )

    def _submitted(self, prompt: Prompt, slots: Sequence[_Slot]) -> PendingCompletions | None:
        """Submit the samples to a queueing generator. Return None without one."""
        return None if self._queue is None else self._queue.submit_many(self._tasks(prompt, slots))

    def _tasks(self, prompt: Prompt, slots: Sequence[_Slot]) -> list[GenerationTask]:
        tasks = []
        for decoding in self._config.decodings:
            seeds = tuple(slot.seed for slot in slots if slot.decoding == decoding.label)
            tasks.append(GenerationTask(prompt, decoding.params(len(seeds)), seeds))
        return tasks

    def _completions(
        self, prompt: Prompt, slots: Sequence[_Slot], pending: PendingCompletions | None
    ) -> tuple[Completion, ...]:
        """Return one completion per slot. All decodings use one call, so the prompt is processed once."""
        tasks = self._tasks(prompt, slots)
        drawn = generate_many(self._generator, tasks) if pending is None else pending.result()
        for task, drawn_for_task in zip(tasks, drawn, strict=True):
            if len(drawn_for_task) != len(task.seeds):
                raise EvaluationError(f"{len(drawn_for_task)} completions came back for {len(task.seeds)} seeds")
        return tuple(c for drawn_for_task in drawn for c in drawn_for_task)

    def _policy_answers(
        self, question: Question, arm: PolicyArm, prompt: Prompt, slots: Sequence[_Slot]
    ) -> tuple[PolicyAnswer, ...]:
        seed, decodings = self._config.seed, {d.label: d for d in self._config.decodings}
        policy_slots = [
            PolicySlot(question, prompt, decodings[s.decoding], s.sample, s.seed, seed, arm.base) for s in slots
        ]
        if arm.samples == 1:
            for label in decodings:
                arm.runner.prepare([slot for slot in policy_slots if slot.decoding.label == label])
        return tuple(arm.runner.answer(slot, arm.plan, arm.samples) for slot in policy_slots)

    def _judge(self, drawn: _Drawn) -> tuple[SampleRecord, ...]:
        question, arm = drawn.question, drawn.arm
        # Check once per cell, because a runtime protocol check is slow.
        active = arm if isinstance(arm, ActiveArm) else None
        spans = [active.answer_span(c.text) if active else None for c in drawn.completions]
        extracted = [self._extract(question, c.text, span) for c, span in zip(drawn.completions, spans, strict=True)]
        failed, verdicts = self._verdicts(drawn, extracted)
        return tuple(
            SampleRecord(
                question_id=question.id,
                arm=arm.name,
                decoding=slot.decoding,
                sample=slot.sample,
                seed=slot.seed,
                completion=completion,
                chunks=drawn.prompts[i].chunks,
                omitted=tuple(r.chunk.id for r in drawn.prompts[i].omitted),
                evaluation=_evaluate(completion.text, extracted[i], verdicts[i]),
                failure="verifier" if (failed and extracted[i].claims) or any(map(verdict_failed, verdicts[i])) else "",
                question_text=drawn.question_text,
                observed=_observed(active, question, completion.text, spans[i]),
                policy=drawn.answers[i].record if drawn.answers else None,
                selected=_with_selector_name(drawn.answers[i].evaluation, arm) if drawn.answers else (),
            )
            for i, (slot, completion) in enumerate(zip(drawn.slots, drawn.completions, strict=True))
        )

    def _extract(self, question: Question, text: str, span: Span | None) -> Extraction:
        """Extract the claims of the judged part of a completion, with offsets into the full text."""
        if span is None:
            return self._verifier.extract(question, text)
        found = self._verifier.extract(question, text[span.start : span.end])
        moved = tuple(Claim(c.text, c.start + span.start, c.end + span.start) for c in found.claims)
        return Extraction(moved, found.refused, found.reason)

    def _verdicts(self, drawn: _Drawn, extracted: Sequence[Extraction]) -> tuple[bool, list[tuple[Verdict, ...]]]:
        """Judge all completions in one call. Return whether the verifier failed, and the verdicts."""
        items = [
            VerificationItem(drawn.question, s.claims, c.text, prompt.chunks)
            for s, c, prompt in zip(extracted, drawn.completions, drawn.prompts, strict=True)
            if s.claims
        ]
        failed = False
        found: Sequence[tuple[Verdict, ...]] = ()
        try:
            found = self._verifier.verify(items) if items else ()
            if [tuple(v.claim for v in verdict) for verdict in found] != [item.claims for item in items]:
                raise EvaluationError("its verdicts do not match the claims")
        except WorkerError:
            raise
        except Exception as error:  # the samples become unscored with the reason
            failed = True
            reason = storable(f"the verifier failed: {_description(error)}")
            found = [
                tuple(Verdict(c, "unscored", None, reason, (), self._verifier.name) for c in item.claims)
                for item in items
            ]
        queue = iter(found)
        return failed, [next(queue) if s.claims else () for s in extracted]


def _unscored(
    question: Question, arm: Arm, slots: Sequence[_Slot], reason: str, failure: Failure
) -> tuple[SampleRecord, ...]:
    evaluation = AnswerEvaluation("unscored", (), storable(reason))
    return tuple(
        SampleRecord(question.id, arm.name, s.decoding, s.sample, s.seed, None, (), (), evaluation, failure)
        for s in slots
    )


def _with_selector_name(evaluation: AnswerEvaluation, arm: Arm) -> tuple[Verdict, ...]:
    """Return the verdicts with the name of the arm's selecting verifier."""
    name = arm.runner.selector.name if isinstance(arm, PolicyArm) else ""
    return tuple(replace(verdict, verifier=name) for verdict in evaluation.verdicts)


def _failed(
    question: Question, arm: Arm, slots: Sequence[_Slot], step: Failure, error: Exception
) -> tuple[SampleRecord, ...]:
    return _unscored(question, arm, slots, f"the {_STEPS[step]} failed: {_description(error)}", step)


def _observed(arm: ActiveArm | None, question: Question, text: str, span: Span | None) -> tuple[ObservedEvent, ...]:
    if arm is None or span is None:
        return ()
    seen = arm.observe(question, text, text[span.start : span.end])
    return tuple(replace(o, sought=storable(o.sought), reason=storable(o.reason)) for o in seen)


def _description(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _evaluate(text: str, extracted: Extraction, verdicts: tuple[Verdict, ...]) -> AnswerEvaluation:
    if not text.strip():
        return AnswerEvaluation("unscored", (), "the completion is empty")
    return outcome_of(verdicts, extracted.refused, extracted.reason)
