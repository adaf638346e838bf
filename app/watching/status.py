"""Compute the status of the watch: the rate in service and three alarms for each certificate of a collection."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.accounts.tenants import TenantCollection
from app.calibration.calibrating import published_collection
from app.calibration.certificate_files import CertificateCheck, CertificateFiles
from app.errors import AppError
from app.pipeline import Pipeline
from app.watching.anchors import AnchorState, anchor_state
from app.watching.audit_session import stored_labels
from app.watching.clock import clock_problem
from app.watching.question_shift import (
    CalibrationQuestions,
    ShiftState,
    calibration_questions,
    fill_distances,
    shift_state,
)
from data.columns import utc_now
from evaluation.audits.audit import StoredAudit
from evaluation.audits.audit_store import AuditStore
from evaluation.audits.reading import AuditReading, audit_reading
from evaluation.correction.label_progress import combined_progress
from evaluation.guarantee.certificate import Certificate
from evaluation.outcomes import Outcome

DELTA = 0.05
"""Error level of the confidence sequence of answers without a certificate."""
RATE, QUESTIONS, VERIFIER = "rate", "questions", "verifier"
NEVER_RENEWS = "The absence of an alarm never renews a certificate: the audits so far merely do not contradict it."


@dataclass(frozen=True, slots=True)
class CertificateWatch:
    """The watch on the answers with one certificate, or on the answers without any.

    id: ID of the certificate, "" for answers without one. certificate: None for answers without one, or if its file was
    deleted or edited; there is no alarm then. problems: reasons why the certificate is invalid now. reading: rate in
    service. shift, anchors: None without a certificate.
    """

    id: str
    certificate: Certificate | None
    problems: tuple[str, ...]
    reading: AuditReading
    shift: ShiftState | None
    anchors: AnchorState | None

    @property
    def alarms(self) -> tuple[str, ...]:
        """Names of the raised alarms, out of "rate", "questions" and "verifier"."""
        raised = {
            RATE: self.certificate is not None and self.reading.watch.raised,
            QUESTIONS: self.shift is not None and self.shift.raised,
            VERIFIER: self.anchors is not None and self.anchors.raised,
        }
        return tuple(name for name, is_raised in raised.items() if is_raised)

    @property
    def delta(self) -> float:
        """False-alarm rate of each alarm over its lifetime, and error level of the confidence sequence."""
        return DELTA if self.certificate is None else self.certificate.delta


@dataclass(frozen=True, slots=True)
class CollectionWatch:
    """The watches of a collection.

    name: name that the tenant uses. stored: name in the store. clock: message if the clock was set back, otherwise "".
    """

    name: str
    stored: str
    watches: tuple[CertificateWatch, ...]
    clock: str

    @property
    def alarms(self) -> tuple[str, ...]:
        """The raised alarms, each as ``CERTIFICATE ALARM``."""
        return tuple(f"{watch.id} {alarm}" for watch in self.watches for alarm in watch.alarms)


class Watching:
    """The watch of a home. Caches readings and the questions of calibrations. Thread-safe."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._lock = threading.Lock()
        self._readings: dict[tuple[str, str], tuple[str, AuditReading]] = {}
        self._questions: dict[str, CalibrationQuestions | str] = {}

    def status(
        self, collections: Sequence[TenantCollection], name: str | None = None, *, clock: datetime | None = None
    ) -> tuple[CollectionWatch, ...]:
        """Return the watches of the collections that have audits or certificates.

        name: name of a collection, or ID of a certificate, to which the result is limited. clock: current time, by
        default that of this machine. Raises UnknownWatchError for another name.
        """
        now = clock or utc_now()
        checks = self._checks()
        with self._lock:
            if name is None:
                found = (self._collection(own, checks, now) for own in collections)
                return tuple(one for one in found if one.watches)
            for own in collections:
                if own.name == name:
                    return (self._collection(own, checks, now),)
            for own in collections:
                one = self._collection(own, checks, now)
                if mine := tuple(watch for watch in one.watches if watch.id == name):
                    return (replace(one, watches=mine),)
        raise UnknownWatchError(name, [own.name for own in collections])

    def certificates(self) -> tuple[CertificateCheck, ...]:
        """Return all certificates of the home, newest first, with problems of their signatures and dates."""
        return CertificateFiles(self._pipeline.home).check_all()

    def _checks(self) -> dict[str, CertificateCheck]:
        """Return the certificates of the home by ID, or by file name if the content cannot be read."""
        found = self.certificates()
        return {check.certificate.id if check.certificate else check.path.stem: check for check in found}

    def _collection(
        self, own: TenantCollection, checks: Mapping[str, CertificateCheck], now: datetime
    ) -> CollectionWatch:
        store = self._pipeline.store
        audits = AuditStore(store).load(own.stored)
        given = stored_labels(store, own.stored)
        keys = {g.key for g in given}
        outcomes = {key[2]: label for key, label in combined_progress((), keys, given).outcomes.items()}
        by_certificate: dict[str, list[StoredAudit]] = {}
        for audit in audits:
            by_certificate.setdefault(audit.certificate, []).append(audit)
        known = [c.certificate for c in checks.values() if c.valid and c.certificate is not None]
        for certificate in known:
            if certificate.collection == own.stored:
                by_certificate.setdefault(certificate.id, [])
        # newest certificate first, answers without one last
        dates = {c.id: c.created_at for c in known}
        order = sorted(by_certificate, key=lambda one: (one != "", dates.get(one, ""), one), reverse=True)
        watches = tuple(self._watch(own, one, by_certificate[one], outcomes, checks.get(one)) for one in order)
        return CollectionWatch(own.name, own.stored, watches, clock_problem(AuditStore(store).latest(own.stored), now))

    def _watch(
        self,
        own: TenantCollection,
        certificate_id: str,
        audits: Sequence[StoredAudit],
        outcomes: Mapping[int, Outcome],
        check: CertificateCheck | None,
    ) -> CertificateWatch:
        certificate, problems = self._trusted(certificate_id, check)
        alpha = None if certificate is None else certificate.alpha
        reading = self._reading(
            own, certificate_id, audits, outcomes, alpha, certificate.delta if certificate else DELTA
        )
        if certificate is None:
            return CertificateWatch(certificate_id, None, problems, reading, None, None)
        shift = self._shift(certificate, audits)
        return CertificateWatch(
            certificate_id, certificate, problems, reading, shift, anchor_state(self._pipeline.store, certificate)
        )

    def _trusted(
        self, certificate_id: str, check: CertificateCheck | None
    ) -> tuple[Certificate | None, tuple[str, ...]]:
        """Return the certificate if its signature is valid, otherwise None, and the reasons why it is invalid now."""
        if not certificate_id:
            return None, ()
        if check is None:
            return None, ("its file is no longer in this home",)
        certificate = check.certificate
        if certificate is None:
            return None, check.problems
        files = CertificateFiles(self._pipeline.home)
        if files.check(check.path, clock=certificate.date).problems:  # the file was edited, whatever the clock says
            return None, check.problems
        published = None
        if certificate.deployment.generation:
            published = published_collection(self._pipeline, certificate.collection)
        return certificate, files.check(check.path, collection=published).problems

    def _reading(
        self,
        own: TenantCollection,
        certificate_id: str,
        audits: Sequence[StoredAudit],
        outcomes: Mapping[int, Outcome],
        alpha: float | None,
        delta: float,
    ) -> AuditReading:
        rows = [(a.number, a.probability, a.answered, a.kept, outcomes.get(a.number)) for a in audits]
        digest = hashlib.sha256(repr((alpha, delta, rows)).encode()).hexdigest()
        cached = self._readings.get((own.stored, certificate_id))
        if cached is None or cached[0] != digest:
            cached = (digest, audit_reading(audits, outcomes, alpha, delta))
            self._readings[own.stored, certificate_id] = cached
        return cached[1]

    def _shift(self, certificate: Certificate, audits: Sequence[StoredAudit]) -> ShiftState:
        if not audits:
            return ShiftState(reason="no question was audited yet")
        known = self._questions.get(certificate.id)
        if known is None:
            known = self._questions[certificate.id] = calibration_questions(self._pipeline, certificate)
        if isinstance(known, str):
            return ShiftState(reason=known)
        return shift_state(certificate, known, fill_distances(self._pipeline, audits, known))


class UnknownWatchError(AppError):
    """No collection and no certificate has this name. known: names of the collections."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(known)
        listed = f"the collections are {', '.join(known)}" if known else "there is no collection yet"
        super().__init__(f"there is no collection and no certificate {name!r}; {listed}", parameter="name")

    def __reduce__(self) -> tuple[type[UnknownWatchError], tuple[str, tuple[str, ...]]]:
        return type(self), (self.name, self.known)
