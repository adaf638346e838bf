"""Prometheus metrics of the watch: rates in service, audits and alarms, by collection and certificate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from app.watching.status import QUESTIONS, RATE, VERIFIER, CertificateWatch, CollectionWatch

_LABELS = ("collection", "certificate")


def watch_text(watches: Sequence[CollectionWatch]) -> bytes:
    """Return the metrics of these watches in Prometheus' text format. The label certificate is "" for answers without
    one.
    """
    registry = CollectorRegistry()
    registry.register(_WatchFigures(watches))
    return generate_latest(registry)


class _WatchFigures(Collector):
    def __init__(self, watches: Sequence[CollectionWatch]) -> None:
        self._watches = watches

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Return one sample per watch, and one per alarm that can be raised."""
        audits = _family("audits", "Audits, by state of their label", "state")
        rate = _family("rate", "Hallucination rate of answers in service: estimate, confidence sequence", "bound")
        alpha = _family("alpha", "Certified rate")
        capital = _family("log_capital", "Evidence of an alarm, which is raised at log(1 / delta)", "alarm")
        alarm = _family("alarm", "1 if the alarm is raised; 0 never renews a certificate", "alarm")
        clock = GaugeMetricFamily(
            "plumbline_watch_clock_set_back", "1 if the clock was set back", labels=["collection"]
        )
        for one in self._watches:
            clock.add_metric([one.name], bool(one.clock))
            for watch in one.watches:
                labels = [one.name, watch.id]
                for state, count in _states(watch).items():
                    audits.add_metric([*labels, state], count)
                for bound, value in _bounds(watch).items():
                    rate.add_metric([*labels, bound], value)
                if watch.certificate is None:
                    continue
                alpha.add_metric(labels, watch.certificate.alpha)
                capital.add_metric([*labels, RATE], watch.reading.watch.log_capital)
                alarm.add_metric([*labels, RATE], RATE in watch.alarms)
                if watch.shift is not None and not watch.shift.reason:
                    capital.add_metric([*labels, QUESTIONS], watch.shift.log_capital)
                    alarm.add_metric([*labels, QUESTIONS], QUESTIONS in watch.alarms)
                if watch.anchors is not None and watch.anchors.result is not None:
                    alarm.add_metric([*labels, VERIFIER], VERIFIER in watch.alarms)
        return (audits, rate, alpha, capital, alarm, clock)

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Return nothing: the samples are not known at registration."""
        return ()


def _family(name: str, text: str, more: str = "", labels: Sequence[str] = _LABELS) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"plumbline_watch_{name}", text, labels=[*labels, *([more] if more else [])])


def _states(watch: CertificateWatch) -> dict[str, int]:
    r = watch.reading
    return {
        "counted": r.watch.audited,
        "declined": r.declined,
        "behind": r.behind,
        "waiting": r.waiting,
        "lapsed": r.lapsed,
        "withheld": r.withheld,
    }


def _bounds(watch: CertificateWatch) -> dict[str, float]:
    """Return the estimate and the bounds of the rate, without undefined figures."""
    r = watch.reading.watch
    known = {} if r.rate is None else {"estimate": r.rate}
    return known if r.changed or r.rate is None else known | {"lower": r.lower, "upper": r.upper}
