"""Estimate the cost of a run: generations and tokens, and the time from a few sampled cells."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.runs.arms import Arm, prepare_arm
from evaluation.runs.cells import CellDrawer
from evaluation.runs.policy_arm import PolicyArm
from evaluation.runs.run_config import RunConfig
from evaluation.runs.run_store import Cell
from evaluation.verifiers.verifier import Verifier
from generation.generator import Generator

PROBED = 8
"""Number of timed cells, spread over arms and questions. One untimed cell precedes them to load and warm up."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """Estimated cost of a run.

    cells: number of questions times number of arms.
    committed: number of cells that are drawn already.
    generations: number of answers still to draw. For policies this is an upper bound, because policies of one question
        share equal draws.
    prompts, prompt_tokens: number of prompts to process, and of their tokens at the probe's mean.
    new_tokens: number of tokens to generate at the probe's mean.
    most_new_tokens: number of tokens to generate if every answer reaches its limit.
    probed: number of timed cells.
    failed: number of probed cells that could not be drawn. They are not timed.
    probe_s: seconds that the timed cells took.
    seconds, slowest_s, fastest_s: seconds for the remaining cells at the mean, the slowest and the fastest timed cell;
        None if no cell could be timed.
    reason: why the last failed cell failed, "" without failures.
    """

    cells: int
    committed: int
    generations: int
    prompts: int
    prompt_tokens: int | None
    new_tokens: int | None
    most_new_tokens: int
    probed: int
    failed: int
    probe_s: float
    seconds: float | None
    fastest_s: float | None
    slowest_s: float | None
    reason: str = ""


def probe(
    config: RunConfig,
    questions: Sequence[Question],
    arms: Sequence[Arm],
    generator: Generator,
    verifier: Verifier,
    committed: Collection[Cell] = (),
    clock: Callable[[], float] = time.perf_counter,
) -> DryRun:
    """Draw and judge a few cells without storing them, and estimate the cost of the run.

    committed: cells that are drawn already.
    clock: returns the current time in seconds.

    Raises EvaluationError without questions, and the errors of the arms.
    """
    if not questions:
        raise EvaluationError("there are no questions to evaluate: give a question file that is not empty")
    pending = [(q, arm) for q in questions for arm in arms if Cell(q.id, arm.name) not in committed]
    chosen = _spread(pending)
    for arm in arms:
        prepare_arm(arm, [q for q, a in chosen if a is arm], questions)
    drawer = CellDrawer(config, generator, verifier)
    if chosen:
        drawer.draw(*chosen[0])
    times: list[float] = []
    prompt_tokens: list[int] = []
    new_tokens = failed = 0
    reason = ""
    for question, arm in chosen:
        started = clock()
        records = drawer.draw(question, arm)
        drawn = [r.completion for r in records if r.completion is not None]
        if not drawn:
            failed += 1
            reason = records[0].evaluation.reason
            continue
        times.append(clock() - started)
        costs = [r.policy.cost for r in records if r.policy is not None]
        prompt_tokens.append(sum(c.prompt_tokens for c in costs) or drawn[0].usage.prompt_tokens)
        new_tokens += sum(c.completion_tokens for c in costs) or sum(c.usage.completion_tokens for c in drawn)
    remaining, timed = len(pending), len(times)
    answers = sum(_most_answers(arm) for _, arm in pending)
    most = sum(config.samples_of(d) * d.max_tokens for d in config.decodings)
    return DryRun(
        len(questions) * len(arms),
        len(questions) * len(arms) - remaining,
        answers * config.samples_per_cell,
        remaining,
        round(remaining * sum(prompt_tokens) / timed) if timed else None,
        round(remaining * new_tokens / timed) if timed else None,
        answers * most,
        timed,
        failed,
        sum(times),
        remaining * sum(times) / timed if timed else None,
        remaining * min(times) if timed else None,
        remaining * max(times) if timed else None,
        reason,
    )


def _most_answers(arm: Arm) -> int:
    """Return the maximum number of answers drawn for one sample."""
    if not isinstance(arm, PolicyArm):
        return 1
    return arm.samples + (arm.plan.rounds if arm.plan.needs_redraw else 0)


def _spread(pending: Sequence[tuple[Question, Arm]]) -> list[tuple[Question, Arm]]:
    """Choose cells at even distances, balanced over the arms: PROBED in total, but at least one per arm."""
    by_arm: dict[str, list[tuple[Question, Arm]]] = {}
    for question, arm in pending:
        by_arm.setdefault(arm.name, []).append((question, arm))
    each = max(1, PROBED // max(len(by_arm), 1))
    chosen: list[tuple[Question, Arm]] = []
    for cells in by_arm.values():
        count = min(each, len(cells))
        chosen.extend(cells[i * len(cells) // count] for i in range(count))
    return chosen
