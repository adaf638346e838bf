"""Draw of responses for human labels: random questions, then one sample of each arm, with probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.statistics.counts import OutcomeRecord

Allocation = Literal["proportional", "equal"]
ONE_STRATUM = "all"


@dataclass(frozen=True, slots=True)
class DrawnSample:
    """One response to label.

    probability: probability of being drawn among its question's responses in that arm.
    """

    arm: str
    sample: int
    probability: float


@dataclass(frozen=True, slots=True)
class DrawnQuestion:
    """A drawn question, with one response per arm.

    probability: probability of the question being drawn within its stratum.
    """

    question_id: str
    stratum: str
    probability: float
    samples: tuple[DrawnSample, ...]


@dataclass(frozen=True, slots=True)
class Stratum:
    """Numbers of questions in a stratum and of those that were drawn."""

    name: str
    questions: int
    drawn: int


@dataclass(frozen=True, slots=True)
class LabelDraw:
    """A draw of questions without replacement.

    questions: drawn questions in random order. population: number of eligible questions. left_out: number of questions
    that are not eligible because they lack an arm.
    members: stratum (index into ``strata``) of each question in the population; empty if there is only one.
    floor: 0, or the smallest drawing probability of an active draw, in which each question is drawn independently with
    its own probability (evaluation.guarantee.active_draw).
    """

    seed: int
    arms: tuple[str, ...]
    population: int
    left_out: int
    strata: tuple[Stratum, ...]
    questions: tuple[DrawnQuestion, ...]
    members: tuple[tuple[str, int], ...] = ()
    floor: float = 0.0

    @property
    def active(self) -> bool:
        """Whether questions were drawn with unequal probabilities that depend on the verifier's uncertainty."""
        return self.floor > 0.0

    def first(self, questions: int) -> LabelDraw:
        """Return the draw restricted to its first questions. The beginning of a random order is a random draw too.

        This serves labelling that stopped early. Raises EvaluationError for a stratified draw (its strata would not be
        filled in proportion), an active draw, and a number outside its range.
        """
        if self.active:
            raise EvaluationError("an active draw cannot be shortened: label all of it, or draw fewer questions")
        if len(self.strata) > 1:
            raise EvaluationError("a stratified draw cannot be shortened: label all of it, or draw fewer questions")
        if not 1 <= questions <= len(self.questions):
            raise EvaluationError(f"{questions} questions of a draw were requested: request 1 to {len(self.questions)}")
        probability = questions / self.population
        kept = tuple(replace(q, probability=probability) for q in self.questions[:questions])
        return replace(self, strata=(replace(self.strata[0], drawn=questions),), questions=kept)


def draw_labels(
    records: Iterable[OutcomeRecord],
    arms: Sequence[str],
    questions: int,
    seed: int,
    strata: Mapping[str, str] | None = None,
    allocation: Allocation = "proportional",
) -> LabelDraw:
    """Draw ``questions`` questions without replacement, and one sample of each arm in each.

    strata: stratum of every question, by ID. Questions are drawn within strata, in proportion to their sizes or in
    equal numbers, at least two per stratum (one question has no variance).

    The draw depends on the seed and on the set of responses, not on their order. Raises EvaluationError if there is
    nothing to draw, if more questions are requested than available, if an arm does not exist, or if a question has no
    stratum.
    """
    responses: dict[str, dict[str, list[int]]] = {}
    for record in records:
        responses.setdefault(record.question_id, {}).setdefault(record.arm, []).append(record.sample)
    if not arms or len(set(arms)) < len(arms):
        raise EvaluationError(f"the arms to label are {list(arms)}: name at least one, and each once")
    for arm in arms:
        if not any(arm in by_arm for by_arm in responses.values()):
            existing = sorted({a for by_arm in responses.values() for a in by_arm})
            raise EvaluationError(f"there is no arm {arm!r} to label: the run has {', '.join(existing) or 'none'}")
    frame = sorted(q for q, by_arm in responses.items() if all(arm in by_arm for arm in arms))
    if not 2 <= questions <= len(frame):
        raise EvaluationError(
            f"{questions} questions to label were requested, but {len(frame)} questions have responses in all of these "
            f"arms: {', '.join(arms)}. {allowed_number(len(frame))}"
        )
    members: dict[str, list[str]] = {}
    for question in frame:
        if strata is not None and question not in strata:
            raise EvaluationError(
                f"question {question!r} has no stratum: give every question a stratum, or give no strata"
            )
        members.setdefault(ONE_STRATUM if strata is None else strata[question], []).append(question)
    sizes = {name: len(ids) for name, ids in sorted(members.items())}
    counts = allocate(sizes, questions, allocation)
    rng = np.random.default_rng([seed, len(frame), questions])
    drawn: list[DrawnQuestion] = []
    for name, take in counts.items():
        ids = members[name]
        for index in rng.choice(len(ids), size=take, replace=False):
            by_arm = responses[ids[index]]
            picked = tuple(_one_sample(arm, sorted(by_arm[arm]), rng) for arm in arms)
            drawn.append(DrawnQuestion(ids[index], name, take / len(ids), picked))
    order = rng.permutation(len(drawn))
    return LabelDraw(
        seed,
        tuple(arms),
        len(frame),
        len(responses) - len(frame),
        tuple(Stratum(name, sizes[name], take) for name, take in counts.items()),
        tuple(drawn[i] for i in order),
        tuple((q, index) for index, name in enumerate(counts) for q in members[name]) if len(counts) > 1 else (),
    )


def allocate(sizes: Mapping[str, int], total: int, allocation: Allocation) -> dict[str, int]:
    """Return the number to draw from each stratum: adds up to ``total``, each at least 2 (or all of a smaller stratum).

    The stratum furthest below its ideal number gets the next question. Raises EvaluationError if ``total`` is too small
    for two of each.
    """
    least = {name: min(2, size) for name, size in sizes.items()}
    if sum(least.values()) > total:
        raise EvaluationError(
            f"{total} questions for {len(sizes)} strata: at least {sum(least.values())} are needed, two of each stratum"
        )
    population = sum(sizes.values())
    ideal = {n: total * (s / population if allocation == "proportional" else 1 / len(sizes)) for n, s in sizes.items()}
    taken = dict(least)
    while sum(taken.values()) < total:
        open_strata = [name for name in sizes if taken[name] < sizes[name]]
        # The stratum furthest below its ideal size gets the next question; ties go to the first by name.
        name = max(open_strata, key=lambda n: ideal[n] - taken[n])
        taken[name] += 1
    return taken


def strata_by_verdict(records: Iterable[OutcomeRecord]) -> dict[str, str]:
    """Return the stratum of each question: "flagged" if the verifier calls a response hallucinated, else "clear".

    Drawing the strata in equal numbers finds more of the rarer kind of verifier errors.
    """
    strata: dict[str, str] = {}
    for record in records:
        if record.outcome == "hallucinated":
            strata[record.question_id] = "flagged"
        else:
            strata.setdefault(record.question_id, "clear")
    return strata


def drawn_items(draw: LabelDraw) -> tuple[tuple[str, str, int], ...]:
    """Return (question, arm, sample) of each response to label; the arms of a question are in random order.

    A fixed order would reveal the arms to the annotator.
    """
    rng = np.random.default_rng([draw.seed, draw.population, len(draw.questions), 1])
    items = []
    for question in draw.questions:
        for index in rng.permutation(len(question.samples)):
            sample = question.samples[index]
            items.append((question.question_id, sample.arm, sample.sample))
    return tuple(items)


def _one_sample(arm: str, samples: list[int], rng: np.random.Generator) -> DrawnSample:
    repeated = [s for s, times in Counter(samples).items() if times > 1]
    if repeated:
        raise EvaluationError(
            f"sample {repeated[0]} of arm {arm!r} appears twice for one question: give each sample once"
        )
    return DrawnSample(arm, samples[int(rng.integers(len(samples)))], 1.0 / len(samples))


def allowed_number(available: int) -> str:
    """Return what to do about a wrong number of questions to label, given the number of eligible questions."""
    if available < 2:
        return "A draw needs at least 2: evaluate more questions in these arms"
    return f"Request 2 to {available}"
