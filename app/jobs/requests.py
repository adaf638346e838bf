"""Job requests, as values and as the JSON stored in their rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """Documents to add to and remove from a collection. uploads: names of the files in the job's staging folder.

    remove: ids of documents. All other documents of the collection remain.
    """

    uploads: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """JSON for the job's row."""
        return {"uploads": list(self.uploads), "remove": list(self.remove)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> IndexRequest:
        """Parse the output of to_json."""
        return cls(tuple(fields.get("uploads", ())), tuple(fields.get("remove", ())))


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """A run to execute.

    questions: fields of each (data/question_json.py), or None for the shipped ones. collection, trusted: the tenant's
    names. arms: None for the default arms of the server's model. limit: only the first N questions.
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
        """JSON for the job's row."""
        questions = None if self.questions is None else [dict(q) for q in self.questions]
        arms = None if self.arms is None else list(self.arms)
        return asdict(self) | {"questions": questions, "arms": arms, "decoding": dict(self.decoding)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> EvaluationRequest:
        """Parse the output of to_json. Raises TypeError for the fields of another version."""
        questions = fields["questions"]
        fixed = None if questions is None else tuple(questions)
        arms = fields["arms"]
        return cls(**{**fields, "questions": fixed, "arms": None if arms is None else tuple(arms)})


def digest(*parts: object) -> str:
    """SHA-256 (hex) of a request, to compare requests."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
