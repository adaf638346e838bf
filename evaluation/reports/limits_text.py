"""Format two limits so that different limits have different texts."""

from __future__ import annotations

_MOST_DIGITS = 6


def limits_text(
    lower: float, upper: float, digits: int = 1, *, scale: float = 100.0, signed: bool = False, separator: str = ", "
) -> str:
    """Return two limits as text, such as "[8.1, 17.9]", in percent by default.

    digits: minimum number of decimals. Up to 6 are used if they are needed to distinguish the limits.
    scale: factor of the limits.
    signed: whether to write the sign of positive limits.
    """
    form = "+" if signed else ""
    for decimals in range(digits, _MOST_DIGITS + 1):
        low, high = (format(scale * limit, f"{form}.{decimals}f") for limit in (lower, upper))
        if low != high or lower == upper:
            break
    return f"[{low}{separator}{high}]"
