"""The status of the watch as JSON, for ``plumbline watch status --json`` and GET /v1/watch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from app.watching.anchors import AnchorState
from app.watching.status import NEVER_RENEWS, CertificateWatch, CollectionWatch


def status_json(watches: Sequence[CollectionWatch]) -> dict[str, Any]:
    """Return the status of all collections, the raised alarms, and a note on what their absence means."""
    return {
        "data": [collection_json(one) for one in watches],
        "alarms": [f"{one.name} {alarm}" for one in watches for alarm in one.alarms],
        "note": NEVER_RENEWS,
    }


def collection_json(one: CollectionWatch) -> dict[str, Any]:
    """Return the status of a collection."""
    return {
        "collection": one.name,
        "clock": one.clock or None,
        "watches": [watch_json(watch) for watch in one.watches],
    }


def watch_json(watch: CertificateWatch) -> dict[str, Any]:
    """Return the status of a certificate, or of the answers without one."""
    certificate, reading, numbers = watch.certificate, watch.reading, watch.reading.watch
    return {
        "certificate": watch.id or None,
        "valid": None if not watch.id else certificate is not None and not watch.problems,
        "problems": list(watch.problems),
        "alpha": None if certificate is None else certificate.alpha,
        "delta": watch.delta,
        "policy": None if certificate is None else certificate.deployment.policy,
        "alarms": list(watch.alarms),
        "audits": {
            "drawn": reading.drawn,
            "withheld": reading.withheld,
            "labelled": reading.labelled,
            "waiting": reading.waiting,
            "lapsed": reading.lapsed,
            "declined": reading.declined,
            "behind": reading.behind,
            "counted": numbers.audited,
        },
        "answer_rate": {
            "certified": None if certificate is None else certificate.answer_rate,
            "in_service": reading.answer_rate,
        },
        "rate": {
            "estimate": numbers.rate,
            "lower": None if numbers.changed else numbers.lower,
            "upper": None if numbers.changed else numbers.upper,
            "level": 1.0 - watch.delta,
            "changed": numbers.changed,
            "log_capital": None if certificate is None else numbers.log_capital,
            "alarm": None if certificate is None else numbers.raised,
            "raised_after": numbers.raised_after,
        },
        "questions": None
        if watch.shift is None
        else {
            "seen": watch.shift.questions,
            "log_capital": watch.shift.log_capital,
            "alarm": None if watch.shift.reason else watch.shift.raised,
            "raised_after": watch.shift.raised_after,
            "reason": watch.shift.reason or None,
        },
        "verifier": anchors_json(watch.anchors),
    }


def anchors_json(anchors: AnchorState | None) -> dict[str, Any] | None:
    """Return the last check of the anchors; None without a certificate."""
    if anchors is None:
        return None
    if anchors.result is None or anchors.checked_at is None:
        return {"checks": 0, "alarm": None, "name": None, "checked_at": None, "last": None}
    return {
        "checks": anchors.checks,
        "alarm": anchors.raised,
        "name": anchors.verifier,
        "checked_at": anchors.checked_at.isoformat(),
        "last": asdict(anchors.result),
    }
