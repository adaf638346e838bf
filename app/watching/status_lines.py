"""The status of the watch as lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from app.watching.anchors import AnchorState
from app.watching.status import CertificateWatch, CollectionWatch
from evaluation.guarantee.certificate import Certificate


def status_lines(watches: Sequence[CollectionWatch]) -> Iterator[str]:
    """Yield the lines of all collections and their watches."""
    for one in watches:
        yield one.name
        for watch in one.watches:
            yield f"  {title(watch)}"
            for name, text in rows(watch):
                yield f"    {name:<10} {text}"
        if not one.watches:
            yield "  no audit and no certificate"


def title(watch: CertificateWatch) -> str:
    """Return a line that names the watched certificate and says whether it is valid."""
    if not watch.id:
        return "answers without a certificate: nothing is guaranteed, so there is no alarm"
    void = f"void: {'; '.join(watch.problems)}" if watch.problems else "valid"
    c = watch.certificate
    if c is None:
        return f"certificate {watch.id}  {void}"
    policy = f"{c.deployment.policy} at {c.threshold:.4g}"
    return f"certificate {watch.id}  alpha {c.alpha:g}, delta {c.delta:g}, {policy}  {void}"


def rows(watch: CertificateWatch) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each figure."""
    yield "audits", audits_line(watch)
    yield "rate", rate_line(watch)
    if watch.certificate is not None and watch.shift is not None:
        yield "questions", questions_line(watch)
    if watch.certificate is not None and watch.anchors is not None:
        yield "verifier", verifier_line(watch.certificate, watch.anchors)


def audits_line(watch: CertificateWatch) -> str:
    """Return the numbers of audits and the answer rate as text."""
    r = watch.reading
    parts = [f"{r.drawn} drawn"]
    parts += [f"{count} {name}" for name, count in (("withheld", r.withheld), ("labelled", r.labelled)) if count]
    parts += [f"{r.waiting} {'waits' if r.waiting == 1 else 'wait'} for a label"] if r.waiting else []
    parts += [f"{r.behind} labelled but not counted yet, because earlier ones have no label"] if r.behind else []
    parts += [f"{r.declined} of them abstentions"] if r.declined else []
    parts += [f"{r.lapsed} deleted without a label"] if r.lapsed else []
    text = ", ".join(parts)
    if r.answer_rate is None or watch.certificate is None:
        return text
    return (
        f"{text}; answers {_percent(r.answer_rate)} of questions (certified: {_percent(watch.certificate.answer_rate)})"
    )


def rate_line(watch: CertificateWatch) -> str:
    """Return the rate, its confidence sequence and its alarm as text."""
    r = watch.reading.watch
    if r.rate is None:
        text = "no labelled answer yet"
    elif r.changed:
        text = f"{_percent(r.rate)} of {r.audited} answers; no constant rate fits them, the rate has changed"
    else:
        text = (
            f"{_percent(r.rate)} of {r.audited} answers hallucinated [{100 * r.lower:.1f}, {100 * r.upper:.1f}], "
            f"{_percent(1 - watch.delta)} confidence at any time"
        )
    if watch.certificate is None:
        return text
    alarm = f"above {_percent(watch.certificate.alpha)}"
    return f"{text}; {_alarm(alarm, r.raised_after, 'labelled answers', r.log_capital, watch.delta)}"


def questions_line(watch: CertificateWatch) -> str:
    """Return the state of the alarm for unlike questions as text."""
    shift = watch.shift
    if shift is None or shift.reason:
        return f"not watched: {shift.reason if shift else 'there is no certificate'}"
    alarm = _alarm("unlike the calibration's", shift.raised_after, "questions", shift.log_capital, watch.delta)
    return f"{shift.questions} seen; {alarm}"


def verifier_line(certificate: Certificate, anchors: AnchorState) -> str:
    """Return the last check of the anchors as text."""
    result, when = anchors.result, anchors.checked_at
    if result is None or when is None:
        return f"not checked: plumbline watch anchors {certificate.id}"
    found = f"worse on {result.worse}, better on {result.better} of {result.anchors} anchors"
    alarm = "ALARM: the verifier got worse" if result.alarm else "no alarm"
    return (
        f"check {anchors.checks} on {when:%Y-%m-%d}: {found}, p {result.p_value:.3g}, level {result.level:.3g}; {alarm}"
    )


def anchor_lines(certificate: Certificate, anchors: AnchorState) -> Iterator[str]:
    """Yield the lines of a check of the anchors."""
    yield f"certificate {certificate.id}  {verifier_line(certificate, anchors)}"
    if anchors.result is not None:
        r = anchors.result
        scores = f"{r.passed_before} passed the threshold at the calibration, {r.passed_now} pass now"
        yield f"  {scores}; {r.unscored} without a score"
        yield f"  verifier {anchors.verifier}"


def _alarm(what: str, raised_after: int | None, of: str, log_capital: float, delta: float) -> str:
    if raised_after is not None:
        return f"ALARM: {what}, raised after {raised_after} {of} (false-alarm rate {_percent(delta)})"
    share = max(0.0, log_capital) / math.log(1.0 / delta)
    return f"no alarm (evidence at {100 * share:.0f} % of the threshold, false-alarm rate {_percent(delta)})"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
