"""Run Schemathesis on the service: sequences of valid and invalid calls, with responses checked against OpenAPI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky
from schemathesis.checks import CHECKS


@dataclass(slots=True)
class Fuzzed:
    """Statistics of a run. calls: number by operation. statuses: number by status."""

    calls: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return sum(self.calls.values())


def no_server_error_but_503(_context: Any, response: Any, _case: Any) -> None:
    """Raise for any 5xx status except 503, which must say when to retry."""
    if response.status_code >= 500:
        assert response.status_code == 503, response.text[:1000]
        assert int(response.headers["retry-after"][0]) >= 1


_NAMES = (
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


def fuzz(
    app: FastAPI, *, calls: int, seed: int, steps: int = 12, after: Callable[[Any], None] = lambda _response: None
) -> Fuzzed:
    """Call the app in sequences of limited length.

    after: called with every response. Raises the exceptions of Schemathesis, with the call as a curl command, if a
    response violates the schema.
    """
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    checks = [*CHECKS.get_by_names(list(_NAMES)), no_server_error_but_503]
    seen = Fuzzed()
    broken: list[BaseException] = []

    class Workflow(schema.as_state_machine()):  # type: ignore[misc]
        def after_call(self, response: Any, case: Any) -> None:
            super().after_call(response, case)
            seen.calls[case.operation.label] += 1
            seen.statuses[response.status_code] += 1
            after(response)

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:
            try:
                case.validate_response(response, checks=checks, recorder=self.recorder)
            except BaseException as error:
                broken.append(error)
                raise

    rounds = 0
    while seen.total < calls:
        rounds += 1
        assert rounds <= 20 + calls // 20, f"only {seen.total} calls in {rounds} rounds"
        left = -(-(calls - seen.total) // steps)
        try:
            hypothesis.seed(seed + rounds)(Workflow).run(settings=_settings(min(left, 100), steps))
        except Flaky:
            # The service keeps the state of earlier sequences, so equal choices may have different results, which
            # Hypothesis reports as flaky. A violation of the schema is reported in any case.
            if broken:
                raise broken[0] from None
    return seen


def _settings(sequences: int, steps: int) -> settings:
    return settings(
        max_examples=sequences,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
