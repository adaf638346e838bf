"""The decoder that ships, by its name: "decoder" stands wherever the folder of a decoder checkpoint can be given."""

from __future__ import annotations

from pathlib import Path

from model.shipped import shipped_decoder

DECODER = "decoder"


def decoder_folder(given: str | Path) -> Path:
    """The folder that is meant: ``given``, or the shipped decoder's for "decoder" where no folder is called so.

    A folder comes first, since a run of one's own may well write to ``decoder/``. Nothing is checked or read.
    """
    folder = Path(given).expanduser()
    return shipped_decoder() if str(given) == DECODER and not folder.exists() else folder
