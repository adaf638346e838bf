"""Export items to label files, and import completed label files. A file has one row per item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.errors import AppError
from app.labelling.draws import LabelledRunInfo
from app.labelling.items import item_id
from app.labelling.sessions import Labelling, equal_answers
from app.pipeline import Pipeline
from data.label_file import LabelRow, label_file_content, parse_labels, problems_message, write_labels
from data.refused import Refused, shown
from data.store import Store
from evaluation.correction.label_progress import wanted_items
from evaluation.correction.label_store import LabelStore, StoredLabel, check_annotator
from evaluation.correction.labelled_run import ResponseKey
from evaluation.outcomes import OUTCOMES, Outcome


def export_labels(session: Labelling, path: Path) -> int:
    """Write the items of a session with the annotator's labels to a file, and return their number.

    Raises DataError if the file cannot be written.
    """
    own = session.own()
    return write_labels(
        path,
        (
            LabelRow(
                item.id,
                own.get(item.key, ""),
                item.question,
                item.answer,
                "\n".join(item.references),
                "\n\n".join(f"{p.title}: {p.before}{p.text}{p.after}" for p in item.passages),
                item.remark,
            )
            for item in session.items
        ),
    )


@dataclass(frozen=True, slots=True)
class ImportedLabels:
    """The result of an import. labels: number of stored labels. blank: number of rows without a label. annotators:
    names of the annotators.
    """

    labels: int
    blank: int
    annotators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParsedLabels:
    """The valid labels of a file, not stored yet. blank: number of rows without a label."""

    given: tuple[StoredLabel, ...]
    blank: int


def parse_label_file(
    run: LabelledRunInfo, content: bytes, name: str, annotator: str, *, settles: bool = False, others: bool = True
) -> ParsedLabels:
    """Parse a completed label file of a run.

    name: name of the file for messages. annotator: annotator of rows without a name. settles: whether the labels settle
    disagreements. others: whether rows may name another annotator. Raises DataError, AppError or EvaluationError that
    names file and rows, for IDs that were not drawn, invalid labels and names, and a file without labels.
    """
    by_id = {item_id(run.info.id, run.stored.decoding, key): key for key in wanted_items(run.stored)}
    return parse_labels_by_id(by_id, content, name, annotator, settles=settles, others=others)


def parse_labels_by_id(
    by_id: Mapping[str, ResponseKey],
    content: bytes,
    name: str,
    annotator: str,
    *,
    settles: bool = False,
    others: bool = True,
) -> ParsedLabels:
    """Parse a completed label file. by_id: responses by item ID. For the other parameters see ``parse_label_file``."""
    annotator = check_annotator(annotator)
    read = parse_labels(content, name, by_id, annotator)
    problems = [*read.problems]
    if not others:
        strange = (label for label in read.labels if label.annotator != annotator)
        reason = f"it names another annotator than {annotator}"
        problems += [Refused(label.where, reason) for label in strange]
    if problems:
        raise AppError(problems_message(name, problems))
    if not read.labels:
        raise AppError(f"{name} has no labels: fill in the column named label")
    given = [StoredLabel(by_id[r.item], check_annotator(r.annotator), _outcome(r.label), settles) for r in read.labels]
    return ParsedLabels(tuple(given), read.blank)


def store_labels(store: Store, run: LabelledRunInfo, found: ParsedLabels) -> ImportedLabels:
    """Store the labels in one transaction.

    A label also counts for equal answers to the same question that the file does not label. Raises EvaluationError if
    the run has changed meanwhile.
    """
    equal = equal_answers(run)
    named = {(g.annotator, g.key) for g in found.given}
    copied = [
        replace(g, key=key) for g in found.given for key in equal.get(g.key, ()) if (g.annotator, key) not in named
    ]
    LabelStore(store).save(run.info.id, run.stored.decoding, (*copied, *found.given))
    return ImportedLabels(len(found.given), found.blank, tuple(dict.fromkeys(g.annotator for g in found.given)))


def import_labels(
    pipeline: Pipeline, run: LabelledRunInfo, path: Path, annotator: str, settles: bool
) -> ImportedLabels:
    """Import a completed label file. All its labels are stored, or none. Raises the errors of ``parse_label_file``."""
    found = parse_label_file(run, label_file_content(path), shown(path), annotator, settles=settles)
    return store_labels(pipeline.store, run, found)


def _outcome(label: str) -> Outcome:
    return next(o for o in OUTCOMES if o == label)
