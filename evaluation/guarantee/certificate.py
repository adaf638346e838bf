"""Certificates: the certified rate, the deployment and data that it applies to, and the changes that invalidate it.

The application signs and stores them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, get_args

from evaluation.errors import EvaluationError
from evaluation.guarantee.levels import check_level
from evaluation.guarantee.thresholds import TestName

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Deployment:
    """Components of a deployment that the rate depends on. A component is "" if the deployment has none.

    model: fingerprint of the generator, which covers weights, precision, tokenizer and prompt.
    prompt: hash of the prompt.
    verifier: name of the verifier with version and threshold.
    generation: hash of the collection's index generation.
    encoder: fingerprint of the encoder.
    retrieval: settings of the arm (k, mode, fusion).
    decoding: label of the sampling settings.
    policy: policies that are applied to answers after verification.
    """

    model: str
    prompt: str
    verifier: str
    generation: str
    encoder: str
    retrieval: str
    decoding: str
    policy: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that the rate among answered questions is at most alpha.

    The statement holds with probability at least 1 - delta over calibrations.

    id: first 16 hexadecimal digits of the SHA-256 hash of the other fields.
    run, arm: run and arm whose answers were labelled.
    data_sha256: hash of the questions, answers, scores and labels.
    level: level of the test: delta divided by ``offers``, the number of certificates offered together.
    labels: number of labelled answers in the test. questions: number of their questions.
    answered, hallucinated: numbers of labelled answers at the threshold.
    answer_rate: share of the questions answered, with its 95 % limits.
    looks: number of earlier calibrations of this run with other labels, thresholds or levels.
    created_at: UTC, ISO 8601.

    Raises EvaluationError, naming the field, for invalid values.
    """

    id: str
    format: int
    deployment: Deployment
    model_name: str
    collection: str
    run: str
    arm: str
    data_sha256: str
    alpha: float
    delta: float
    level: float
    offers: int
    test: TestName
    threshold: float
    labels: int
    questions: int
    answered: int
    hallucinated: int
    p_value: float
    answer_rate: float
    answer_rate_lower: float
    answer_rate_upper: float
    looks: int
    version: str
    created_at: str

    def __post_init__(self) -> None:
        check_level("alpha", self.alpha)
        check_level("delta", self.delta)
        check_level("level", self.level)
        if self.format != FORMAT:
            raise EvaluationError(f"format is {self.format}: this version of Plumbline reads {FORMAT}")
        if self.test not in get_args(TestName):
            raise EvaluationError(f"test is {self.test!r}: it must be one of {', '.join(get_args(TestName))}")
        for name in ("threshold", "p_value", "answer_rate", "answer_rate_lower", "answer_rate_upper"):
            value = getattr(self, name)
            if not (math.isfinite(value) and 0.0 <= value <= 1.0):
                raise EvaluationError(f"{name} is {value}: it must lie between 0 and 1")
        if not 0 <= self.hallucinated <= self.answered <= self.labels:
            raise EvaluationError(
                f"{self.hallucinated} hallucinated of {self.answered} answered of {self.labels} labels: each must be a "
                "part of the next"
            )
        if self.date.tzinfo is None:
            raise EvaluationError(f"created_at is {self.created_at!r}: it must be ISO 8601 with its time zone")

    @property
    def date(self) -> datetime:
        """created_at as a datetime. Raises EvaluationError if it is invalid."""
        try:
            return datetime.fromisoformat(self.created_at)
        except ValueError as error:
            raise EvaluationError(f"created_at is {self.created_at!r}: it must be ISO 8601") from error

    def to_json(self) -> dict[str, Any]:
        """Return all fields as JSON values; ``certificate_from_json`` is the inverse."""
        return asdict(self)

    @property
    def digest(self) -> str:
        """The correct value of ``id``."""
        return content_id(self.to_json())


def content_id(values: Mapping[str, Any]) -> str:
    """Return the ID of a certificate with these fields."""
    rest = {name: value for name, value in values.items() if name != "id"}
    return hashlib.sha256(canonical(rest).encode()).hexdigest()[:16]


def canonical(value: object) -> str:
    """Return the canonical JSON text of a value: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def certificate_from_json(values: object) -> Certificate:
    """Create a certificate from the result of ``to_json``.

    Raises EvaluationError, naming the field, if it is missing, unknown, of another type or invalid.
    """
    outer = _checked(values, Certificate, "the certificate")
    inner = _checked(outer["deployment"], Deployment, "deployment")
    return Certificate(**(outer | {"deployment": Deployment(**inner)}))


_TYPES: dict[str, tuple[type, ...]] = {"str": (str,), "TestName": (str,), "int": (int,), "float": (float, int)}


def _checked(values: object, kind: type[Certificate] | type[Deployment], where: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise EvaluationError(f"{where} is not a JSON object")
    declared = {field.name: str(field.type) for field in fields(kind)}
    if unknown := sorted(str(name) for name in values if name not in declared):
        raise EvaluationError(f"{where} has the unknown field {unknown[0]!r}")
    for name, type_name in declared.items():
        if name not in values:
            raise EvaluationError(f"{where} has no field {name!r}")
        value, allowed = values[name], _TYPES.get(type_name)
        if allowed is not None and (isinstance(value, bool) or not isinstance(value, allowed)):
            raise EvaluationError(f"{where}: {name} is {value!r}: it must be of type {type_name}")
    return {name: float(values[name]) if kind_of == "float" else values[name] for name, kind_of in declared.items()}


@dataclass(frozen=True, slots=True)
class Change:
    """A field of the deployment that differs from the certified one."""

    field: str
    certified: str
    now: str

    def __str__(self) -> str:
        return f"{self.field} was {_short(self.certified)} and is {_short(self.now)} now"


def changes(certificate: Certificate, now: Deployment) -> tuple[Change, ...]:
    """Return the fields of the deployment that changed. The certificate is valid for ``now`` only if there are none."""
    certified = certificate.deployment
    return tuple(
        Change(field.name, getattr(certified, field.name), getattr(now, field.name))
        for field in fields(Deployment)
        if getattr(certified, field.name) != getattr(now, field.name)
    )


def _short(value: str) -> str:
    return repr(value if len(value) <= 60 else f"{value[:57]}...") if value else "none"
