"""Prometheus metrics: latency by stage, tokens, queue, batch sizes, cache hits, verdict shares, age of indexes.

Label values are declared paths, never text sent by clients, because Prometheus keeps every label value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from data.columns import utc_now
from evaluation.outcomes import AnswerEvaluation

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
STAGES = ("queue", "retrieval", "first_token", "generation", "verification", "total")
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True, slots=True)
class IndexAge:
    """Publication time of a collection's current generation."""

    collection: str
    published_at: datetime


@dataclass(frozen=True, slots=True)
class Indexes:
    """Published indexes. own: indexes of the tenant that reads the metrics. others: number of indexes of all other
    tenants.
    """

    own: tuple[IndexAge, ...] = ()
    others: int = 0


class Metrics:
    """The metrics of one service, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        registry = self._registry
        self._requests = Counter(
            "plumbline_requests", "Requests, by path and status", ("method", "path", "status"), registry=registry
        )
        self._request_seconds = Histogram(
            "plumbline_request_seconds",
            "Seconds from the arrival of a request to its last byte",
            ("path",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._stages = Histogram(
            "plumbline_stage_seconds",
            "Seconds of a query in each stage",
            ("stage",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._tokens = Counter(
            "plumbline_tokens",
            "Tokens; cached ones are prompt tokens read from the cache",
            ("kind",),
            registry=registry,
        )
        self._batches = Histogram(
            "plumbline_batch_size", "Requests per batch", ("stage",), buckets=_SIZES, registry=registry
        )
        self._prompts = Counter(
            "plumbline_prompts", "Prompts, by whether part of them was in the cache", ("cache",), registry=registry
        )
        self._outcomes = Counter("plumbline_answers", "Judged answers, by outcome", ("outcome",), registry=registry)
        self._verdicts = Counter("plumbline_verdicts", "Judged claims, by verdict", ("label",), registry=registry)
        for stage in STAGES:
            self._stages.labels(stage)

    def gauge(self, name: str, help_text: str, value: Callable[[], float]) -> None:
        """Register a gauge. value: called on each scrape."""
        Gauge(f"plumbline_{name}", help_text, registry=self._registry).set_function(value)

    def request(self, method: str, path: str, status: int, seconds: float) -> None:
        """Record a finished request. path: path that the route declares, not the path that was sent."""
        self._requests.labels(method, path, str(status)).inc()
        self._request_seconds.labels(path).observe(seconds)

    def stage(self, stage: str, seconds: float) -> None:
        """Record how many seconds a query spent in a stage. stage: one of STAGES."""
        self._stages.labels(stage).observe(seconds)

    def batch(self, stage: str, size: int) -> None:
        """Record the number of requests in a batch."""
        self._batches.labels(stage).observe(size)

    def answered(self, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> None:
        """Record a generated answer."""
        self._tokens.labels("prompt").inc(prompt_tokens)
        self._tokens.labels("cached").inc(cached_tokens)
        self._tokens.labels("completion").inc(completion_tokens)
        self._prompts.labels("hit" if cached_tokens else "miss").inc()

    def judged(self, evaluations: Iterable[AnswerEvaluation]) -> None:
        """Record judged answers."""
        for evaluation in evaluations:
            self._outcomes.labels(evaluation.outcome).inc()
            for verdict in evaluation.verdicts:
                self._verdicts.labels(verdict.label).inc()

    def text(self, indexes: Indexes | None = None) -> bytes:
        """Return all metrics in Prometheus' text format 0.0.4. indexes: those that the reader may see."""
        more = CollectorRegistry()
        more.register(_IndexFigures(indexes or Indexes()))
        return generate_latest(self._registry) + generate_latest(more)


class _IndexFigures(Collector):
    def __init__(self, indexes: Indexes) -> None:
        self._indexes = indexes

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Yield the age of each index of the reader, and the numbers of own and other indexes."""
        family = GaugeMetricFamily(
            "plumbline_index_age_seconds",
            "Seconds since the current index of a collection of this tenant was published",
            labels=["collection"],
        )
        now = utc_now()
        for age in self._indexes.own:
            family.add_metric([age.collection], max(0.0, (now - age.published_at).total_seconds()))
        yield family
        counts = GaugeMetricFamily("plumbline_indexes", "Published indexes, by owner", labels=["tenant"])
        counts.add_metric(["own"], len(self._indexes.own))
        counts.add_metric(["others"], self._indexes.others)
        yield counts

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Return nothing: the samples are not known at registration."""
        return ()
