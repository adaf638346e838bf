"""Decoders by name: "decoder", which ships, and those of app.models.named_models, wherever a checkpoint can be
given.
"""

from __future__ import annotations

from pathlib import Path

from app.models.named_models import MODELS, model_file
from app.settings import Settings
from model.checkpoints.shipped import shipped_decoder

DECODER = "decoder"


def decoder_folder(given: str | Path, home: Path | None = None) -> Path:
    """The checkpoint that is meant: ``given``, or for a name where no folder is called so the model of that name.

    A folder comes first, since a run of one's own may well write to ``decoder/``. home: where fetched models lie, by
    default the environment's. Raises AppError for a named model that was not fetched; nothing else is checked or read.
    """
    folder = Path(given).expanduser()
    if folder.exists():
        return folder
    if str(given) in MODELS:
        return model_file(str(given), Settings().home_folder if home is None else home)
    return shipped_decoder() if str(given) == DECODER else folder
