"""Load the scorer of an entailment verifier by name."""

from __future__ import annotations

from app.errors import AppError
from model.pairs.scoring import PairScorer


def load_scorer(name: str | None, device: str) -> PairScorer:
    """The entailment scorer of this name, None for the shipped one. Raises AppError or ModelError as loading does."""
    from app.models.evaluate import ModelRequest, load_verifier
    from app.models.roles import model_role

    if name is not None and model_role(name) != "verifier":
        raise AppError(f"{name!r} is a reader: it generates answers, and cannot judge them")
    return load_verifier(ModelRequest(name or "verifier", device))
