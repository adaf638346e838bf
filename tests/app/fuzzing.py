"""Schemathesis over the whole service: sequences of calls, good and bad, each answer held against what OpenAPI says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CHECKS


@dataclass(slots=True)
class Fuzzed:
    """calls: by operation. statuses: how often each came."""

    calls: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return sum(self.calls.values())


def no_server_error_but_503(_context: Any, response: Any, _case: Any) -> None:
    """503 says when to come back; no other 5xx is ever right."""
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
    app: FastAPI, *, sequences: int, steps: int, seed: int, after: Callable[[Any], None] = lambda _response: None
) -> Fuzzed:
    """Call the app in so many sequences of at most so many steps. after: told every response.

    Raises what Schemathesis raises when an answer breaks the schema, with the call as a curl command.
    """
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    schema.config.seed = seed
    checks = [*CHECKS.get_by_names(list(_NAMES)), no_server_error_but_503]
    seen = Fuzzed()

    class Workflow(schema.as_state_machine()):  # type: ignore[misc]
        def after_call(self, response: Any, case: Any) -> None:
            super().after_call(response, case)
            seen.calls[case.operation.label] += 1
            seen.statuses[response.status_code] += 1
            after(response)

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:
            case.validate_response(response, checks=checks, recorder=self.recorder)

    Workflow.run(
        settings=settings(
            max_examples=sequences,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=False,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
    )
    return seen
