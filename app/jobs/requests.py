"""What jobs are asked to do, as values and as the JSON that their rows keep."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """Documents that a collection is to gain and lose. uploads: names of the files in the job's staging folder.

    remove: ids of documents. Everything else the collection holds stays.
    """

    uploads: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For the job's row."""
        return {"uploads": list(self.uploads), "remove": list(self.remove)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> IndexRequest:
        """What to_json wrote."""
        return cls(tuple(fields.get("uploads", ())), tuple(fields.get("remove", ())))


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """A run to be made. questions: fields of each (data/question_json.py), or None for those that come with Plumbline.

    collection, trusted: as the tenant calls them. arms: None for the default ones of the server's model. limit: only
    the first so many questions.
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
        """For the job's row."""
        questions = None if self.questions is None else [dict(q) for q in self.questions]
        arms = None if self.arms is None else list(self.arms)
        return asdict(self) | {"questions": questions, "arms": arms, "decoding": dict(self.decoding)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> EvaluationRequest:
        """What to_json wrote. Raises TypeError for the fields of another version."""
        questions = fields["questions"]
        held = None if questions is None else tuple(questions)
        arms = fields["arms"]
        return cls(**{**fields, "questions": held, "arms": None if arms is None else tuple(arms)})


def digest(*parts: object) -> str:
    """SHA-256 (hex) of what a request asks, to tell whether two are the same."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
