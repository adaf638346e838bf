"""Storage of a run's label draw and of the labels of its responses in the SQL store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, cast, get_args

from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from data.schema import label_draws, labels
from data.store import Store
from evaluation.correction.labelled_run import ResponseKey
from evaluation.correction.sampling import DrawnQuestion, DrawnSample, LabelDraw, Stratum
from evaluation.errors import EvaluationError
from evaluation.outcomes import Outcome

MOST_CHARACTERS = 64
"""Maximum length of an annotator's name in characters."""


@dataclass(frozen=True, slots=True)
class StoredDraw:
    """Label draw of a run.

    decoding: label of the decoding of its responses. wanted: number of its questions to label. An unstratified draw
    holds all questions in random order, so the number can be raised later.
    """

    draw: LabelDraw
    decoding: str
    wanted: int

    def __post_init__(self) -> None:
        if not 1 <= self.wanted <= len(self.draw.questions):
            raise EvaluationError(
                f"{self.wanted} questions to label were requested: request 1 to {len(self.draw.questions)}, the "
                "size of the draw"
            )

    @property
    def stratified(self) -> bool:
        """Whether the draw is stratified or active. Such a draw must be labelled completely."""
        return len(self.draw.strata) > 1 or self.draw.active

    @property
    def chosen(self) -> LabelDraw:
        """Draw of the wanted questions, with their probabilities."""
        return self.draw if self.stratified else self.draw.first(self.wanted)


@dataclass(frozen=True, slots=True)
class StoredLabel:
    """Label of one response by one person.

    key: (question, arm, sample). settles: whether the label adjudicates a disagreement.
    """

    key: ResponseKey
    annotator: str
    label: Outcome
    settles: bool = False


class LabelStore:
    """Access to label draws and labels in the SQL store. Stateless."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def save_draw(self, run_id: str, drawn: StoredDraw) -> None:
        """Save the run's draw and replace an earlier one.

        Labels remain, because they belong to responses, not to draws.
        """
        row = {"run_id": run_id, "draw": _draw_to_json(drawn)}
        with self._store.write() as connection:
            connection.execute(delete(label_draws).where(label_draws.c.run_id == run_id))
            connection.execute(insert(label_draws).values(row))

    def load_draw(self, run_id: str) -> StoredDraw | None:
        """Return the run's draw, None if there is none. Raises EvaluationError for a draw that cannot be read."""
        with self._store.read() as connection:
            found = connection.execute(select(label_draws.c.draw).where(label_draws.c.run_id == run_id)).scalar()
        if found is None:
            return None
        try:
            return _draw_from_json(found)
        except (KeyError, TypeError, ValueError) as error:
            raise EvaluationError(
                f"the draw of run {run_id} cannot be read ({error}): draw again", parameter="redraw"
            ) from error

    def save(self, run_id: str, decoding: str, given: Iterable[StoredLabel]) -> None:
        """Write labels in one transaction. Each replaces the same person's earlier label.

        Raises EvaluationError for a response that the run does not hold, or an invalid name or label.
        """
        rows = [_label_row(run_id, decoding, label) for label in given]
        try:
            with self._store.write() as connection:
                for row in rows:
                    same = [labels.c[name] == value for name, value in row.items() if name != "label"]
                    connection.execute(delete(labels).where(*same))
                if rows:
                    connection.execute(insert(labels), rows)
        except IntegrityError as error:
            raise EvaluationError(
                f"run {run_id} no longer holds one of the labelled responses, so no label was saved: draw again",
                parameter="redraw",
            ) from error

    def load(self, run_id: str, decoding: str) -> tuple[StoredLabel, ...]:
        """Return all labels of the run's responses with this decoding, oldest first."""
        mine = (labels.c.run_id == run_id, labels.c.decoding == decoding)
        order = (labels.c.created_at, labels.c.question_id, labels.c.arm, labels.c.sample, labels.c.annotator)
        with self._store.read() as connection:
            rows = connection.execute(select(labels).where(*mine).order_by(*order)).mappings().all()
        return tuple(
            StoredLabel(
                (row["question_id"], row["arm"], row["sample"]),
                row["annotator"],
                cast(Outcome, row["label"]),
                bool(row["settles"]),
            )
            for row in rows
        )


def check_annotator(name: str) -> str:
    """Return the name without surrounding white space.

    Raises EvaluationError unless it has 1 to 64 printable characters.
    """
    found = name.strip()
    if not found or len(found) > MOST_CHARACTERS or not found.isprintable():
        raise EvaluationError(
            f"the annotator's name {name[:80]!r} must have 1 to {MOST_CHARACTERS} printable characters"
        )
    return found


def _label_row(run_id: str, decoding: str, given: StoredLabel) -> dict[str, Any]:
    if given.label not in get_args(Outcome):
        raise EvaluationError(f"the label {given.label!r} must be one of {', '.join(get_args(Outcome))}")
    question, arm, sample = given.key
    return {
        "run_id": run_id,
        "question_id": question,
        "arm": arm,
        "decoding": decoding,
        "sample": sample,
        "annotator": check_annotator(given.annotator),
        "settles": given.settles,
        "label": given.label,
    }


def _draw_to_json(drawn: StoredDraw) -> dict[str, Any]:
    return {"decoding": drawn.decoding, "wanted": drawn.wanted, **asdict(drawn.draw)}


def _draw_from_json(fields: Mapping[str, Any]) -> StoredDraw:
    draw = LabelDraw(
        seed=int(fields["seed"]),
        arms=tuple(fields["arms"]),
        population=int(fields["population"]),
        left_out=int(fields["left_out"]),
        strata=tuple(Stratum(**stratum) for stratum in fields["strata"]),
        questions=tuple(
            replace(DrawnQuestion(**question), samples=tuple(DrawnSample(**s) for s in question["samples"]))
            for question in fields["questions"]
        ),
        members=tuple((str(question), int(index)) for question, index in fields["members"]),
        floor=float(fields.get("floor", 0.0)),
    )
    return StoredDraw(draw, str(fields["decoding"]), int(fields["wanted"]))
