"""Schemathesis at length, with workers that do the jobs which it starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.jobs.job_store import JobStore
from app.jobs.worker import Worker
from app.pipeline import Pipeline
from app.service.application import create_app
from app.settings import Settings
from data.documents import Document
from model.reader.prefix_decoder import save_prefix_decoder, warm_start
from tests.app.fuzzing import fuzz

pytestmark = [pytest.mark.drill, pytest.mark.filterwarnings("ignore")]

CALLS = 1500
"""Of each seed: four homes, which two workers of pytest-xdist fuzz at once."""


def is_small(request: Mapping[str, Any]) -> bool:
    """Whether an evaluation that the fuzzer made up takes seconds: some would take days."""
    questions = request["questions"]
    return questions is not None and len(questions) * request["samples"] * request["decoding"]["max_tokens"] < 1000


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_thousands_of_calls_break_nothing(tmp_path: Path, seed: int) -> None:
    save_prefix_decoder(warm_start(0), tmp_path / "reader", {})
    settings = Settings(home=tmp_path / "home", database="", encoder="", model=str(tmp_path / "reader"), device="cpu")
    with Pipeline(settings) as pipeline:
        pipeline.index("notes", [Document("warranty", "Warranty", "The warranty of the Heron 4 lasts three years.")])
        worker, jobs = Worker(pipeline), JobStore(pipeline.store)
        requests = 0

        def after(response: Any) -> None:
            nonlocal requests
            requests += 1
            if requests % 50 == 0:
                for job in jobs.list("", kind="evaluation", status="queued"):
                    if not is_small(job.request):
                        jobs.cancel("", job.id)
                worker.run_one()

        seen = fuzz(create_app(pipeline), calls=CALLS, steps=20, seed=1000 * seed, after=after)
    print(f"{seen.total} calls, {len(seen.calls)} operations, statuses {dict(sorted(seen.statuses.items()))}")
    assert len(seen.calls) >= 20
