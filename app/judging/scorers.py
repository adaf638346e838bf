"""Load the scorer of an entailment verifier by name."""

from __future__ import annotations

from app.errors import AppError
from model.pairs.scoring import PairScorer


def load_scorer(name: str | None, device: str) -> PairScorer:
    """Load the entailment scorer of this name, or the shipped one for None.

    Raises AppError for the name of a reader, and the errors of loading.
    """
    from app.models.evaluate import ModelRequest, load_verifier
    from app.models.roles import model_role

    if name is not None and model_role(name) != "verifier":
        raise AppError(f"{name!r} is a reader: it generates answers, and cannot judge them")
    return load_verifier(ModelRequest(name or "verifier", device))
