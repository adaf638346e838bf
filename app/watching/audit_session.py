"""Label the audits of a collection. Annotators see the same view as for runs, without score, policy and certificate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import overload

from app.labelling.items import LabelItem, Passage, documents_of, item_id, passage_of
from app.labelling.label_files import ImportedLabels, ParsedLabels, parse_labels_by_id
from data.columns import utc_now
from data.label_file import label_file_content
from data.refused import shown
from data.store import Store
from evaluation.audits.audit import StoredAudit
from evaluation.audits.audit_store import AuditLabel, AuditStore
from evaluation.correction.label_progress import LabelProgress, combined_progress
from evaluation.correction.label_store import StoredLabel, check_annotator
from evaluation.correction.labelled_run import ResponseKey
from evaluation.outcomes import Evidence, Outcome

_ARM = "audit"


class AuditItems(Sequence[LabelItem]):
    """The items of audits as a sequence. Items are read from the store when they are accessed."""

    def __init__(self, store: Store, collection: str, keys: Sequence[ResponseKey]) -> None:
        self._store, self._collection, self.keys = store, collection, tuple(keys)
        self.ids = tuple(audit_item_id(key) for key in self.keys)

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> LabelItem: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[LabelItem, ...]: ...
    def __getitem__(self, index: int | slice) -> LabelItem | tuple[LabelItem, ...]:
        if isinstance(index, slice):
            return self._items(self.keys[index])
        return self._items((self.keys[index],))[0]

    def _items(self, keys: Sequence[ResponseKey]) -> tuple[LabelItem, ...]:
        found = AuditStore(self._store).with_texts([number for _, _, number in keys])
        document_ids = sorted({p.document_id for a in found.values() if a.content for p in a.content.passages})
        texts = documents_of(self._store, self._collection, document_ids)

        def passages(audit: StoredAudit) -> tuple[Passage, ...]:
            given = audit.content.passages if audit.content else ()
            evidence = (Evidence(p.document_id, p.start, p.end, p.text) for p in given)
            shown = (passage_of(one, texts.get(one.document_id or "")) for one in evidence)
            return tuple(passage for passage in shown if passage is not None)

        def item(key: ResponseKey) -> LabelItem:
            audit = found.get(key[2])
            content = audit.content if audit else None
            if audit is None or content is None:
                return LabelItem(audit_item_id(key), key, "", "", (), (), "The texts of this audit were deleted.")
            remark = f"The question was sent as: {content.original}" if content.original else ""
            return LabelItem(audit_item_id(key), key, content.question, content.answer, (), passages(audit), remark)

        return tuple(item(key) for key in keys)


class AuditSession:
    """The labelling of a collection's audits by one annotator. Each label is stored at once."""

    def __init__(self, store: Store, collection: str, annotator: str, adjudicate: bool = False) -> None:
        """collection: name of the collection in the store. adjudicate: whether to show only items on which annotators
        disagree, and to settle them.

        Raises EvaluationError for an invalid name of the annotator.
        """
        self.store, self._collection, self._settles = store, collection, adjudicate
        self.annotator = check_annotator(annotator)
        keys = audit_keys(store, collection)
        if adjudicate:
            mine = {g.key for g in stored_labels(store, collection) if g.settles and g.annotator == self.annotator}
            disputed = set(self.progress().disputed)
            keys = tuple(key for key in keys if key in disputed or key in mine)
        self._items = AuditItems(store, collection, keys)

    @property
    def items(self) -> AuditItems:
        """The audits to label, in order."""
        return self._items

    def own(self) -> dict[ResponseKey, Outcome]:
        """Return the stored labels of this annotator."""
        given = stored_labels(self.store, self._collection)
        return {g.key: g.label for g in given if g.annotator == self.annotator and g.settles == self._settles}

    def label(self, item: LabelItem, label: Outcome) -> None:
        """Store a label. It replaces an earlier label of this annotator."""
        store_audit_labels(self.store, [StoredLabel(item.key, self.annotator, label, self._settles)])

    def first_open(self) -> int | None:
        """Return the index of the first item that this annotator has not labelled, or None if there is none."""
        own = self.own()
        return next((index for index, key in enumerate(self._items.keys) if key not in own), None)

    def progress(self) -> LabelProgress:
        """Return the progress of all annotators."""
        return audit_progress(self.store, self._collection)

    def parsed(self, content: bytes, name: str, *, others: bool = True) -> ParsedLabels:
        """Parse a completed label file (see ``parse_labels_by_id``). Stores nothing."""
        by_id = dict(zip(self._items.ids, self._items.keys, strict=True))
        return parse_labels_by_id(by_id, content, name, self.annotator, settles=self._settles, others=others)


def audit_item_id(key: ResponseKey) -> str:
    """Return the ID of an item: 12 hexadecimal digits, the same for all annotators."""
    return item_id(_ARM, "", key)


def audit_keys(store: Store, collection: str) -> tuple[ResponseKey, ...]:
    """Return the keys of the audits that can be labelled, in order: (query ID, "audit", number)."""
    return tuple((query, _ARM, number) for number, query in AuditStore(store).to_label(collection))


def stored_labels(store: Store, collection: str) -> tuple[StoredLabel, ...]:
    """Return all labels of a collection's audits, including audits whose texts were deleted."""
    numbers = {audit.number: audit.query_id for audit in AuditStore(store).load(collection)}
    return tuple(
        StoredLabel((numbers[one.audit], _ARM, one.audit), one.annotator, one.label, one.settles)
        for one in AuditStore(store).labels(collection)
        if one.audit in numbers
    )


def audit_progress(store: Store, collection: str) -> LabelProgress:
    """Return the progress of all annotators.

    ``items`` are the audits that can be labelled. ``outcomes`` also contains audits whose texts were deleted.
    """
    given = stored_labels(store, collection)
    keys = audit_keys(store, collection)
    return combined_progress(keys, {*keys, *(g.key for g in given)}, given)


def store_audit_labels(store: Store, given: Iterable[StoredLabel]) -> None:
    """Store labels of audits in one transaction. Raises EvaluationError if an audit was deleted meanwhile."""
    labels = [AuditLabel(one.key[2], one.annotator, one.label, one.settles) for one in given]
    AuditStore(store).save_labels(labels, utc_now())


def import_audit_labels(session: AuditSession, path: Path) -> ImportedLabels:
    """Import a completed label file and store all its labels or none. Raises the errors of ``parse_labels_by_id``."""
    return store_parsed_labels(session, session.parsed(label_file_content(path), shown(path)))


def store_parsed_labels(session: AuditSession, found: ParsedLabels) -> ImportedLabels:
    """Store the labels of a file in one transaction. Raises EvaluationError if an audit was deleted meanwhile."""
    store_audit_labels(session.store, found.given)
    return ImportedLabels(len(found.given), found.blank, tuple(dict.fromkeys(g.annotator for g in found.given)))
