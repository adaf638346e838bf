"""Convert SVG plots to PNG files, for slides, word processors and chats that do not accept SVG.

The renderer (resvg) is an optional dependency and uses the machine's fonts. If either is missing, no PNG file is
written and the reason is returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.errors import EvaluationError

_WIDTH = 1600
"""Width in pixels, which is sharp on a slide and gives files of about 100 KB."""
_EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{}</svg>'
_LETTER = '<text x="2" y="16" font-family="sans-serif">M</text>'
_SANS_SERIF = ("Arial", "DejaVu Sans", "Liberation Sans", "Noto Sans", "Helvetica", "Open Sans", "Roboto", "FreeSans")
"""Fonts to try for "sans-serif". The renderer does not use fontconfig. By default it needs Arial to draw text."""


@dataclass(frozen=True, slots=True)
class Rasters:
    """Result of ``write_pngs``. files: written PNG files. reason: why there are none, else ""."""

    files: tuple[Path, ...]
    reason: str = ""


def write_pngs(plots: Sequence[Path]) -> Rasters:
    """Write a PNG for every SVG. Raises EvaluationError with the file that cannot be read, drawn or written."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        return Rasters((), "only SVG plots were written: for PNG, run pip install 'plumbline-rag[plots]'")
    blank, letter = _EMPTY.format(""), _EMPTY.format(_LETTER)
    blank_image = svg_to_bytes(svg_string=blank)
    fit = (name for name in _SANS_SERIF if svg_to_bytes(svg_string=letter, sans_serif_family=name) != blank_image)
    family = next(fit, None)
    if family is None:
        return Rasters((), "only SVG plots were written: PNG needs a font such as DejaVu, and this machine has none")
    written = []
    for plot in plots:
        target = plot.with_suffix(".png")
        try:
            svg = plot.read_text(encoding="utf-8")
            target.write_bytes(
                svg_to_bytes(svg_string=svg, background="#ffffff", width=_WIDTH, sans_serif_family=family)
            )
        except OSError as error:
            raise EvaluationError(f"cannot write the plot {target}: {error.strerror}") from error
        except ValueError as error:
            raise EvaluationError(f"{plot} cannot be drawn as PNG: {error}") from error
        written.append(target)
    return Rasters(tuple(written))
