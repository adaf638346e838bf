"""Response schemas of the watch."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from app.service.api.jobs_schemas import Reply


class AuditCounts(Reply):
    """Numbers of audits by state."""

    drawn: int = Field(description="all audits")
    withheld: int = Field(description="no answer was given, so there is nothing to label")
    labelled: int = Field(description="answers with a label")
    waiting: int = Field(description="answers without one")
    lapsed: int = Field(description="answers without one whose texts were deleted by retention")
    declined: int = Field(description="answers labelled as abstentions")
    behind: int = Field(description="labelled answers that wait for an answer before them")
    counted: int = Field(description="answers that the rate rests on")


class AnswerRates(Reply):
    """Shares of questions that are answered."""

    certified: float | None = Field(description="at the calibration; null without a certificate")
    in_service: float | None = Field(description="among the audits, weighted; null without one")


class RateReading(Reply):
    """The hallucination rate among answers in service."""

    estimate: float | None = Field(description="weighted by the drawing probabilities; null before the first label")
    lower: float | None = Field(description="of the confidence sequence; null if the rate has changed")
    upper: float | None
    level: float = Field(description="with which the sequence covers the rate at all looks together")
    changed: bool = Field(description="no constant rate fits all the answers")
    log_capital: float | None = Field(description="of the alarm, which is raised at log(1 / delta)")
    alarm: bool | None = Field(description="whether the rate exceeds alpha; null without a certificate")
    raised_after: int | None = Field(description="counted answers until the alarm")


class QuestionsReading(Reply):
    """Comparison of questions in service with those of the calibration."""

    seen: int
    log_capital: float
    alarm: bool | None = Field(description="whether questions are unlike; null if they are not watched")
    raised_after: int | None = Field(description="questions until the alarm")
    reason: str | None = Field(description="why they are not watched")


class AnchorsReading(Reply):
    """Result of one test of the verifier on the anchors (the labelled answers of the calibration)."""

    anchors: int
    worse: int
    better: int
    unscored: int
    passed_before: int
    passed_now: int
    p_value: float
    level: float
    alarm: bool


class VerifierReading(Reply):
    """Tests of the verifier on the labelled answers of the calibration (plumbline watch anchors)."""

    checks: int
    alarm: bool | None = Field(description="whether the last check found it worse; null before the first")
    name: str | None = Field(description="of the verifier checked last")
    checked_at: datetime | None
    last: AnchorsReading | None


class WatchReply(Reply):
    """The watch of the answers of one certificate, or of the answers without one."""

    certificate: str | None = Field(description="its id; null for answers without one")
    valid: bool | None = Field(description="whether signature, date and collection fit; queries compare the rest")
    problems: list[str]
    alpha: float | None
    delta: float = Field(description="false-alarm rate of each alarm over its whole life")
    policy: str | None
    alarms: list[str] = Field(description="rate, questions, verifier")
    audits: AuditCounts
    answer_rate: AnswerRates
    rate: RateReading
    questions: QuestionsReading | None
    verifier: VerifierReading | None


class CollectionWatchReply(Reply):
    """The watches of a collection, newest certificate first."""

    collection: str
    clock: str | None = Field(description="what is wrong with the server's clock")
    watches: list[WatchReply]


class WatchesReply(Reply):
    """The watches, and all raised alarms."""

    data: list[CollectionWatchReply]
    alarms: list[str] = Field(description="collection, certificate and alarm, of every alarm that is raised")
    note: str = Field(description="the absence of an alarm never renews a certificate")
