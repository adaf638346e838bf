"""OpenAPI: a snapshot that shows every change, valid examples, and Schemathesis on the entire service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import validator_for

from app.service.application import create_app
from app.settings import Settings
from tests.app.fuzzing import fuzz

SNAPSHOT = Path(__file__).parent / "openapi.json"
"""Written by ``python -m tests.app.write_openapi`` when a change is meant."""


def described() -> dict[str, Any]:
    return dict(create_app(Settings(database="sqlite:////nowhere/p.db")).openapi())


def test_the_api_is_described_as_it_was() -> None:
    found = described()
    found["info"].pop("version")
    kept = json.loads(SNAPSHOT.read_text())
    assert sorted(found["paths"]) == sorted(kept["paths"])
    assert found == kept, "the API has changed: if that is meant, run python -m tests.app.write_openapi"


def test_every_operation_says_what_it_is_and_how_it_fails() -> None:
    for path, operations in described()["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            assert operation["summary"], where
            assert operation["tags"], where
            if path.startswith("/v1/"):
                assert {"401", "403", "429", "500", "503"} <= set(operation["responses"]), where
                assert operation["security"] == [{"key": []}], where


def test_examples_are_what_they_are_examples_of() -> None:
    document = described()
    shown = 0
    for name, schema in document["components"]["schemas"].items():
        full = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        validator = validator_for(full)
        for example in schema.get("examples", ()):
            shown += 1
            assert list(validator.iter_errors(example)) == [], name
    assert shown >= 6


@pytest.mark.drill
@pytest.mark.filterwarnings("ignore")  # of a client that is told to send what clients do not send
def test_no_sequence_of_calls_breaks_the_schema(
    make_pipeline: Any, make_settings: Any, home_copy: Path, first_words: Any
) -> None:
    pipeline = make_pipeline(make_settings(home_copy), first_words())
    seen = fuzz(create_app(pipeline), calls=25, seed=20261121)  # the drill makes thousands
    assert seen.total >= 25
    assert len(seen.calls) >= 5
