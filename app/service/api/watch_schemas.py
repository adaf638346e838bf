"""Response schemas of the watch."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from app.service.api.jobs_schemas import Reply


class AuditCounts(Reply):
    """Numbers of audits by state."""

    drawn: int = Field(description="number of all audits")
    withheld: int = Field(description="audits of withheld answers, which cannot be labelled")
    labelled: int = Field(description="answers with a label")
    waiting: int = Field(description="answers without a label")
    lapsed: int = Field(description="answers without a label that lost their texts to retention")
    declined: int = Field(description="answers labelled as abstentions")
    behind: int = Field(description="labelled answers that are not counted yet, because an earlier one has no label")
    counted: int = Field(description="answers from which the rate is estimated")


class AnswerRates(Reply):
    """Shares of questions that are answered."""

    certified: float | None = Field(description="share at the calibration; null without a certificate")
    in_service: float | None = Field(description="weighted share among the audits; null without audits")


class RateReading(Reply):
    """The hallucination rate among answers in service."""

    estimate: float | None = Field(
        description="rate weighted by the drawing probabilities; null before the first label"
    )
    lower: float | None = Field(description="lower bound of the confidence sequence; null if the rate has changed")
    upper: float | None = Field(description="upper bound of the confidence sequence; null if the rate has changed")
    level: float = Field(description="confidence level of the sequence, which holds at all times together")
    changed: bool = Field(description="whether no constant rate fits all answers")
    log_capital: float | None = Field(description="evidence of the alarm, which is raised at log(1 / delta)")
    alarm: bool | None = Field(description="whether the rate exceeds alpha; null without a certificate")
    raised_after: int | None = Field(description="number of counted answers until the alarm")


class QuestionsReading(Reply):
    """Comparison of questions in service with those of the calibration."""

    seen: int
    log_capital: float
    alarm: bool | None = Field(description="whether questions differ from the calibration's; null if not watched")
    raised_after: int | None = Field(description="number of questions until the alarm")
    reason: str | None = Field(description="why questions are not watched")


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
    alarm: bool | None = Field(description="whether the last check found the verifier worse; null before the first")
    name: str | None = Field(description="name of the verifier in the last check")
    checked_at: datetime | None
    last: AnchorsReading | None


class WatchReply(Reply):
    """The watch of the answers of one certificate, or of the answers without one."""

    certificate: str | None = Field(description="ID of the certificate; null for answers without one")
    valid: bool | None = Field(
        description="whether signature, date and collection match; each query compares the other settings"
    )
    problems: list[str]
    alpha: float | None
    delta: float = Field(description="false-alarm rate of each alarm over the entire life of the watch")
    policy: str | None
    alarms: list[str] = Field(description="raised alarms: rate, questions, verifier")
    audits: AuditCounts
    answer_rate: AnswerRates
    rate: RateReading
    questions: QuestionsReading | None
    verifier: VerifierReading | None


class CollectionWatchReply(Reply):
    """The watches of a collection, newest certificate first."""

    collection: str
    clock: str | None = Field(description="problem of the server's clock; null if there is none")
    watches: list[WatchReply]


class WatchesReply(Reply):
    """The watches, and all raised alarms."""

    data: list[CollectionWatchReply]
    alarms: list[str] = Field(description="every raised alarm: collection, certificate and alarm")
    note: str = Field(description="the absence of an alarm never renews a certificate")
