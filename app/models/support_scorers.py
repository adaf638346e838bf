"""Open verifier networks, the shipped one or a folder's, through the model cache."""

from __future__ import annotations

from pathlib import Path

from app.models.cache import ModelCache, model_key, process_models
from model.checkpoints.shipped import shipped_verifier
from model.verifier.scorer import SupportScorer, load_support_scorer


def open_support_scorer(
    folder: Path | None = None, device: str = "cpu", models: ModelCache | None = None
) -> SupportScorer:
    """The verifier network of a folder, the shipped one by default. models: by default the process's cache.

    Raises ModelError as load_support_scorer does.
    """
    key = model_key("verifier", folder or shipped_verifier(), device)
    return (process_models() if models is None else models).get(key, lambda: load_support_scorer(folder, device=device))
