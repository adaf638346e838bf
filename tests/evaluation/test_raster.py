"""PNG beside SVG: drawn with text, or left out with a reason."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from evaluation.errors import EvaluationError
from evaluation.reports.raster import _SANS_SERIF, write_pngs

PLOT = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 50" width="400" height="100">'
    '<style>text {{ font: 12px system-ui, sans-serif; }}</style><text x="5" y="20">{}</text></svg>'
)


def plot(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(PLOT.format(text), encoding="utf-8")
    return path


def test_every_plot_gets_its_png_with_its_words(tmp_path: Path) -> None:
    plots = [plot(tmp_path, "a.svg", "12.3 % − é"), plot(tmp_path, "b.svg", "")]
    found = write_pngs(plots)
    assert [p.name for p in found.files] == ["a.png", "b.png"] and not found.reason
    one, two = (p.read_bytes() for p in found.files)
    assert one[:8] == two[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", one[16:24]) == (1600, 400)
    assert len(one) > len(two)  # the words are there


def test_without_any_font_of_the_list_svg_stay_alone_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.reports.raster._SANS_SERIF", ("No Such Font", "Nor This One"))
    found = write_pngs([plot(tmp_path, "a.svg", "x")])
    assert found.files == () and "needs a font" in found.reason
    monkeypatch.setattr("evaluation.reports.raster._SANS_SERIF", ("No Such Font", *_SANS_SERIF))
    assert write_pngs([plot(tmp_path, "a.svg", "x")]).files


def test_without_the_extra_svg_stay_alone_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    found = write_pngs([plot(tmp_path, "a.svg", "x")])
    assert found.files == () and "plumbline-rag[plots]" in found.reason
    assert not (tmp_path / "a.png").exists()


def test_what_is_no_svg_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "c.svg"
    broken.write_text("<svg", encoding="utf-8")
    with pytest.raises(EvaluationError, match=r"c\.svg"):
        write_pngs([broken])
    with pytest.raises(EvaluationError, match=r"none\.png"):
        write_pngs([tmp_path / "none.svg"])
