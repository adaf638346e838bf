"""Find the folder or file of a decoder by name: the shipped "decoder", or a model of app.models.named_models."""

from __future__ import annotations

from pathlib import Path

from app.models.named_models import MODELS, model_file
from app.settings import Settings
from model.checkpoints.shipped import shipped_decoder

DECODER = "decoder"


def decoder_folder(given: str | Path, home: Path | None = None) -> Path:
    """Return the path ``given`` if it exists, otherwise the path of the model with that name.

    A path has priority, because a training run may write to ``decoder/``. If there is neither, the path is returned
    unchecked. home: data directory (home) with fetched models, by default that of the environment. Raises AppError for
    a named model that was not fetched.
    """
    folder = Path(given).expanduser()
    if folder.exists():
        return folder
    if str(given) in MODELS:
        return model_file(str(given), Settings().home_folder if home is None else home)
    return shipped_decoder() if str(given) == DECODER else folder
