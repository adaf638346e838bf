"""Requests of jobs, and their JSON in the database."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """A request to add and remove documents of a collection. All other documents remain.

    uploads: names of the files in the job's staging folder. remove: IDs of the documents to remove.
    """

    uploads: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON that is stored with the job."""
        return {"uploads": list(self.uploads), "remove": list(self.remove)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> IndexRequest:
        """Parse the output of to_json."""
        return cls(tuple(fields.get("uploads", ())), tuple(fields.get("remove", ())))


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """A request for an evaluation. For the other fields see app.runs.evaluate.EvaluationPlan.

    questions: fields of each question (data/question_json.py); None for the shipped questions. collection, trusted:
    the tenant's names of collections. arms: None for the default arms of the server's model. limit: maximum number of
    questions, from the first one.
    """

    questions: tuple[Mapping[str, Any], ...] | None
    name: str = ""
    collection: str | None = None
    trusted: str | None = None
    arms: tuple[str, ...] | None = None
    samples: int = 3
    k: int = 4
    mode: str | None = None
    fusion: str | None = None
    decoding: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    verifier: str = "auto"
    threshold: float = 0.5
    limit: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON that is stored with the job."""
        questions = None if self.questions is None else [dict(q) for q in self.questions]
        arms = None if self.arms is None else list(self.arms)
        return asdict(self) | {"questions": questions, "arms": arms, "decoding": dict(self.decoding)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> EvaluationRequest:
        """Parse the output of to_json. Raises TypeError for unknown fields, for example of another version."""
        questions = fields["questions"]
        fixed = None if questions is None else tuple(questions)
        arms = fields["arms"]
        return cls(**{**fields, "questions": fixed, "arms": None if arms is None else tuple(arms)})


def digest(*parts: object) -> str:
    """Return the SHA-256 (hex) of the parts of a request, with which requests are compared."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
