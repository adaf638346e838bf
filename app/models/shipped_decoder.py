"""Decoders by name: the shipped "decoder", and those of app.models.named_models."""

from __future__ import annotations

from pathlib import Path

from app.models.named_models import MODELS, model_file
from app.settings import Settings
from model.checkpoints.shipped import shipped_decoder

DECODER = "decoder"


def decoder_folder(given: str | Path, home: Path | None = None) -> Path:
    """The checkpoint folder: ``given``, or the model of that name if no folder has the name.

    A folder comes first, since a training run may well write to ``decoder/``. home: folder of fetched models, by
    default the environment's. Raises AppError for a named model that was not fetched; nothing else is checked or read.
    """
    folder = Path(given).expanduser()
    if folder.exists():
        return folder
    if str(given) in MODELS:
        return model_file(str(given), Settings().home_folder if home is None else home)
    return shipped_decoder() if str(given) == DECODER else folder
