"""Load verifier networks through the model cache."""

from __future__ import annotations

from pathlib import Path

from app.models.cache import ModelCache, model_key, process_models
from model.checkpoints.shipped import shipped_verifier
from model.verifier.scorer import SupportScorer, load_support_scorer


def open_support_scorer(
    folder: Path | None = None, device: str = "cpu", models: ModelCache | None = None
) -> SupportScorer:
    """Load the verifier network of a folder; None for the shipped one. models: cache, by default that of the process.

    Raises the ModelError of load_support_scorer.
    """
    key = model_key("verifier", folder or shipped_verifier(), device)
    return (process_models() if models is None else models).get(key, lambda: load_support_scorer(folder, device=device))
