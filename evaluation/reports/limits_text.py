"""Formatting of two limits. Different limits never have the same text."""

from __future__ import annotations

_MOST_DIGITS = 6


def limits_text(
    lower: float, upper: float, digits: int = 1, *, scale: float = 100.0, signed: bool = False, separator: str = ", "
) -> str:
    """ "[8.1, 17.9]", in percent by default, with ``digits`` decimals or as many more as needed to distinguish the
    limits.
    """
    form = "+" if signed else ""
    for decimals in range(digits, _MOST_DIGITS + 1):
        low, high = (format(scale * limit, f"{form}.{decimals}f") for limit in (lower, upper))
        if low != high or lower == upper:
            break
    return f"[{low}{separator}{high}]"
