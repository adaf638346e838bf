"""Convert characters of the fonts Symbol and Wingdings, which have no standard codes, to Unicode."""

from __future__ import annotations

# Characters of Adobe's Symbol encoding (PDF 32000-1:2008, annex D.5) that differ from ASCII.
_SYMBOL = dict(zip(range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True))
_SYMBOL |= dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True))
_SYMBOL |= dict(zip(range(0xA0, 0xBD), "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…", strict=True))
_SYMBOL |= dict(zip(range(0xC0, 0xE0), "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓", strict=True))
_SYMBOL |= {0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2A: "∗", 0x2D: "−", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥", 0x7E: "∼"}
_SYMBOL |= {0xE0: "◊", 0xE1: "⟨", 0xE2: "®", 0xE3: "©", 0xE4: "™", 0xE5: "∑", 0xF1: "⟩", 0xF2: "∫"}
_WINGDINGS = {0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0xA7: "▪", 0xA8: "◻", 0xD8: "➢", 0xE0: "→", 0xDF: "←"}
_WINGDINGS |= {0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0x28: "☎", 0x2A: "✉"}
_PRIVATE_USE_START = 0xF000


def symbol_character(code: int, font: str) -> str:
    """Return the character for a code (0xF0B3 or 0xB3) of a font, U+FFFD for an unknown code."""
    offset = code - _PRIVATE_USE_START if _PRIVATE_USE_START <= code <= _PRIVATE_USE_START + 0xFF else code
    if offset > 0xFF:
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    if font.lower().startswith(("wingdings", "webdings")):
        return _WINGDINGS.get(offset, "\ufffd")
    if font.lower().startswith("symbol") or code >= _PRIVATE_USE_START:
        return _SYMBOL.get(offset, chr(offset) if 0x20 <= offset < 0x7F else "\ufffd")
    return chr(code) if code >= 0x20 else "\ufffd"


def without_private_codes(text: str, font: str) -> str:
    """Return the text with the codes of symbol fonts (U+F020 to U+F0FF) converted."""
    if not any("\uf020" <= character <= "\uf0ff" for character in text):
        return text
    return "".join(symbol_character(ord(c), font) if "\uf020" <= c <= "\uf0ff" else c for c in text)
