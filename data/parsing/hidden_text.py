"""Detect HTML elements with hidden text: hidden, display:none, zero size, or white on white."""

from __future__ import annotations

import re
from collections.abc import Mapping

_DECLARATION = re.compile(r"([a-z-]+)\s*:\s*([^;]*)")
_ZERO = re.compile(r"[+-]?0*\.?0*(?:px|pt|em|rem|ex|ch|vh|vw|mm|cm|in|pc|%)?")
_RGB = re.compile(r"rgba?\(([^)]*)\)")
_NAMED = {"white": (255, 255, 255), "snow": (255, 250, 250), "black": (0, 0, 0), "ivory": (255, 255, 240)}
_MIN_BRIGHTNESS = 248
_MAX_STYLE_CHARACTERS = 5000

Colour = tuple[int, int, int]


def style_of(attributes: Mapping[str, str]) -> dict[str, str]:
    """Parse the declarations of the style attribute, in lower case, without ``!important``."""
    text = re.sub(r"/\*.*?\*/", "", attributes.get("style", "")[:_MAX_STYLE_CHARACTERS].lower())
    return {name: value.replace("!important", "").strip() for name, value in _DECLARATION.findall(text)}


def background_of(attributes: Mapping[str, str], style: Mapping[str, str]) -> Colour | None:
    """Return the background colour that an element sets, None if it sets none. An image counts as black."""
    declared = style.get("background-color") or style.get("background") or attributes.get("bgcolor", "")
    if "url(" in declared or "gradient" in declared:
        return (0, 0, 0)
    return next(
        (colour for word in re.findall(r"rgba?\([^)]*\)|\S+", declared) if (colour := _parse_colour(word))), None
    )


def is_hidden(attributes: Mapping[str, str], style: Mapping[str, str], background: Colour | None) -> bool:
    """Return whether browsers hide the element's text.

    background: the background colour of the nearest element that sets one, None for the page's default.
    """
    if "hidden" in attributes:
        return True
    if style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse"):
        return True
    if any(_ZERO.fullmatch(style[name]) and "0" in style[name] for name in ("font-size", "opacity") if name in style):
        return True
    colour = _parse_colour(style.get("color") or attributes.get("color", "").lower())
    if style.get("color") == "transparent":
        return True
    if colour is None:
        return False
    return _is_similar(colour, background) if background else min(colour) >= _MIN_BRIGHTNESS


def _parse_colour(text: str) -> Colour | None:
    text = text.strip().lower()
    if text in _NAMED:
        return _NAMED[text]
    if re.fullmatch(r"#[0-9a-f]{3,4}", text):
        return int(text[1] * 2, 16), int(text[2] * 2, 16), int(text[3] * 2, 16)
    if re.fullmatch(r"#[0-9a-f]{6}(?:[0-9a-f]{2})?", text):
        return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
    if match := _RGB.fullmatch(text):
        parts = [part for part in re.split(r"[\s,/]+", match.group(1).strip()) if part][:3]
        if len(parts) == 3 and all(re.fullmatch(r"\d{1,3}(?:\.\d+)?%?", part) for part in parts):
            r, g, b = (round(float(p[:-1]) * 2.55) if p.endswith("%") else round(float(p)) for p in parts)
            return r, g, b
    return None


def _is_similar(one: Colour, other: Colour) -> bool:
    return max(abs(left - right) for left, right in zip(one, other, strict=True)) <= 255 - _MIN_BRIGHTNESS
