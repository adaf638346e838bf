"""Progress of labelling: labels by item and annotator, joint decisions, and completeness."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from evaluation.correction.agreement import Agreement, Decision, adjudicate, agreement
from evaluation.correction.label_store import StoredDraw, StoredLabel
from evaluation.correction.labelled_run import ResponseKey
from evaluation.correction.sampling import LabelDraw, drawn_items
from evaluation.outcomes import Outcome


@dataclass(frozen=True, slots=True)
class Annotator:
    """Progress of one annotator.

    labelled: number of wanted responses that the person labelled. settled: number that the person adjudicated.
    """

    name: str
    labelled: int
    settled: int


@dataclass(frozen=True, slots=True)
class LabelProgress:
    """State of the labelling of a draw.

    items: wanted responses, in display order.
    decisions: decisions on labelled items, by item.
    outcomes: outcome that counts as the label; an unsettled tie counts as "unscored" (people could not tell).
    ties: number of unsettled ties.
    disputed: items whose annotators differ, without adjudication.
    complete: number of questions with all labels, counted from the start of the draw up to the first that lacks one.
    annotators: sorted by name.
    agreement: agreement of the annotators.
    """

    items: tuple[ResponseKey, ...]
    decisions: tuple[Decision[ResponseKey], ...]
    outcomes: dict[ResponseKey, Outcome]
    ties: int
    disputed: tuple[ResponseKey, ...]
    complete: int
    annotators: tuple[Annotator, ...]
    agreement: tuple[Agreement, ...]

    @property
    def done(self) -> int:
        """Number of wanted responses with a label."""
        return sum(item in self.outcomes for item in self.items)


def wanted_items(stored: StoredDraw) -> tuple[ResponseKey, ...]:
    """Return (question, arm, sample) of each wanted response, in the display order, which all annotators share.

    The order is that of the entire draw, so that requesting more questions later appends items.
    """
    wanted = {q.question_id for q in stored.chosen.questions}
    return tuple(item for item in drawn_items(stored.draw) if item[0] in wanted)


def progress_of(stored: StoredDraw, given: Iterable[StoredLabel], seed: int = 0) -> LabelProgress:
    """Combine a draw with its labels. Labels of responses outside the draw are ignored."""
    found = combined_progress(wanted_items(stored), set(drawn_items(stored.draw)), given, seed)
    return replace(found, complete=_complete(stored.draw, found.outcomes))


def combined_progress(
    items: tuple[ResponseKey, ...], drawn: set[ResponseKey], given: Iterable[StoredLabel], seed: int = 0
) -> LabelProgress:
    """Combine any set of responses with their labels.

    ``complete`` of the result is the number of items before the first without a label. items: responses in display
    order. drawn: responses whose labels count.
    """
    by_annotator: dict[str, dict[ResponseKey, str]] = {}
    settled: dict[ResponseKey, str] = {}
    settlers: dict[str, set[ResponseKey]] = {}
    for label in given:
        if label.key not in drawn:
            continue
        if label.settles:
            settled[label.key] = label.label
            settlers.setdefault(label.annotator, set()).add(label.key)
        else:
            by_annotator.setdefault(label.annotator, {})[label.key] = label.label
    known = {item for labelled in by_annotator.values() for item in labelled}
    decisions = adjudicate(by_annotator, {item: label for item, label in settled.items() if item in known})
    wanted = set(items)
    outcomes: dict[ResponseKey, Outcome] = {d.item: _outcome(d.label) for d in decisions}
    names = sorted({*by_annotator, *settlers})
    return LabelProgress(
        items,
        decisions,
        outcomes,
        sum(d.how == "tie" for d in decisions),
        tuple(d.item for d in decisions if d.how in ("tie", "majority")),
        next((index for index, item in enumerate(items) if item not in outcomes), len(items)),
        tuple(
            Annotator(n, len(wanted & by_annotator.get(n, {}).keys()), len(wanted & settlers.get(n, set())))
            for n in names
        ),
        agreement(by_annotator, seed),
    )


def _outcome(label: str | None) -> Outcome:
    match label:
        case "hallucinated" | "supported" | "abstained":
            return label
        case _:
            return "unscored"


def _complete(draw: LabelDraw, outcomes: dict[ResponseKey, Outcome]) -> int:
    for index, question in enumerate(draw.questions):
        if not all((question.question_id, s.arm, s.sample) in outcomes for s in question.samples):
            return index
    return len(draw.questions)
