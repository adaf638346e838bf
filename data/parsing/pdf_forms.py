"""Extract the values of PDF forms (also XFA) and the text of annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from xml.parsers import expat

from data.parsing.decoding import one_line, storable_text

_PASSWORD = 1 << 13
_PARENTS = 20
_MAX_ANNOTATIONS = 10_000
_MAX_CHARACTERS = 100_000
_TEXT_ANNOTATIONS = frozenset(
    ("/FreeText", "/Text", "/Highlight", "/Underline", "/StrikeOut", "/Squiggly", "/Stamp", "/Caret")
)
# Generated field names, which have no meaning: f1_02, Text7, undefined_3.
_GENERATED_NAME = re.compile(
    r"(?:[a-z]{1,2}\d.*|(?:text|check ?box|field|undefined|group|button|topmost\w*)[\s_]*\d*)", re.I
)


def page_notes(page: Any) -> list[str]:
    """Return the values of the fields on a page, as ``label: value``, and the text of annotations, in page order."""
    found: list[str] = []
    annotations = page.get("/Annots")
    annotations = annotations.get_object() if annotations is not None else None
    for entry in list(annotations or ())[:_MAX_ANNOTATIONS]:
        try:
            annotation = entry.get_object()
            if annotation.get("/Subtype") == "/Widget":
                text = _field_text(annotation)
            elif annotation.get("/Subtype") in _TEXT_ANNOTATIONS:
                text = _text(annotation.get("/Contents"))
            else:
                text = ""
        except (AttributeError, KeyError, TypeError, ValueError):  # A damaged annotation affects only itself.
            continue
        if text and text not in found[-1:]:
            found.append(text)
    return found


def xfa_values(reader: Any) -> list[str]:
    """Return the values of an XFA form as ``name: value``, empty if there are none or they are unreadable."""
    try:
        parts = reader.xfa or {}
        raw = parts.get("datasets") or b""
    except Exception:  # XFA is a third-party XML stream and may fail in any way.
        return []
    return list(_leaves(bytes(raw)))


def has_xfa(reader: Any) -> bool:
    """Return whether the file has an XFA form. Its pages often show only a placeholder."""
    try:
        return bool(reader.xfa)
    except Exception:  # See xfa_values.
        return False


def _field_text(widget: Any) -> str:
    value = _inherited(widget, "/V")
    kind, flags = _inherited(widget, "/FT"), _inherited(widget, "/Ff")
    if value is None or (isinstance(flags, int) and kind == "/Tx" and flags & _PASSWORD):
        return ""
    if kind == "/Btn":
        selected = str(value).lstrip("/")
        state = str(widget.get("/AS", value)).lstrip("/")
        text = "" if selected in ("", "Off") or state == "Off" else selected
    elif isinstance(value, list):
        text = ", ".join(filter(None, map(_text, value)))
    else:
        text = _text(value)
    if not text:
        return ""
    label = one_line(str(_inherited(widget, "/TU") or ""), 200) or _field_label(str(_inherited(widget, "/T") or ""))
    return f"{label.rstrip(':')}: {text}" if label else text


def _inherited(field: Any, key: str) -> Any:
    """Return a field's entry, or that of its nearest ancestor that has one."""
    for _ in range(_PARENTS):
        value = field.get(key)
        if value is not None:
            return value.get_object() if hasattr(value, "get_object") else value
        parent = field.get("/Parent")
        if parent is None:
            return None
        field = parent.get_object()
    return None


def _field_label(name: str) -> str:
    kept = one_line(re.sub(r"\[\d+\]", "", name).rpartition(".")[2].replace("_", " "), 200)
    return "" if _GENERATED_NAME.fullmatch(name.strip()) or _GENERATED_NAME.fullmatch(kept) else kept


def _text(value: Any) -> str:
    if value is None:
        return ""
    if hasattr(value, "get_data"):
        value = value.get_data().decode("utf-8", "replace")
    return storable_text(str(value))[:_MAX_CHARACTERS].strip() if isinstance(value, str) else ""


def _leaves(raw: bytes) -> Iterator[str]:
    """Yield ``name: text`` for each element that contains text. Stops at invalid XML."""
    lines: list[str] = []
    names: list[str] = []
    pieces: list[str] = []

    def refuse(*_: object) -> None:
        raise ValueError("a document type declaration")

    def start(name: str, _: dict[str, str]) -> None:
        names.append(name.rpartition(":")[2])
        pieces.clear()

    def end(_: str) -> None:
        if text := " ".join("".join(pieces).split()):
            label = _field_label(names[-1])
            lines.append(f"{label}: {text}" if label else text)
        names.pop()
        pieces.clear()

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = pieces.append
    with suppress(expat.ExpatError, ValueError):
        parser.Parse(raw, True)
    yield from lines
