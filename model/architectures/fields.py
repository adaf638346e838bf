"""Typed access to a config.json, with errors that name the field and its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from model.errors import ModelError


def refuse(field: str, value: object, rule: str) -> NoReturn:
    """Raise ModelError for a field's value. rule: the requirement that it does not meet."""
    shown = repr(value)
    shown = shown if len(shown) <= 200 else shown[:200] + "..."
    raise ModelError(f"{field} is {shown}: {rule}")


# No tensor has this many rows. Larger values fit neither memory nor 64-bit integers.
_MOST = 2**40


class Fields:
    """Fields of a parsed JSON object. ``null`` is treated as absent unless a method says otherwise.

    prefix: put before field names in messages.
    """

    def __init__(self, source: Mapping[str, object], prefix: str = "") -> None:
        self.source = source
        self.prefix = prefix

    def integer(self, name: str, default: int | None = None, *, least: int = 1, most: int = _MOST) -> int:
        """Return an integer from ``least`` to ``most``. The field is required if there is no default."""
        value = self.source.get(name)
        if value is None:
            value = default
        if value is None:
            raise ModelError(f"{self.prefix}{name} is missing: a config of this architecture needs it")
        if isinstance(value, bool) or not isinstance(value, int):
            refuse(self.prefix + name, value, "it must be an integer")
        if value < least:
            refuse(self.prefix + name, value, f"it must be at least {least}")
        if value > most:
            refuse(self.prefix + name, value, f"more than {most:,} are not supported")
        return value

    def nullable_integer(self, name: str, absent: int | None) -> int | None:
        """Return a positive integer, or None for null. absent: value of an absent field."""
        return None if self.source.get(name, absent) is None else self.integer(name, absent)

    def number(self, name: str, default: float | None = None) -> float:
        """Return a number. The field is required if there is no default."""
        value = self.source.get(name)
        if value is None:
            value = default
        if value is None:
            raise ModelError(f"{self.prefix}{name} is missing: it is needed here")
        if isinstance(value, bool) or not isinstance(value, int | float):
            refuse(self.prefix + name, value, "it must be a number")
        try:
            return float(value)
        except OverflowError:
            refuse(self.prefix + name, value, "it is too large a number")

    def nullable_number(self, name: str) -> float | None:
        """Return a number, or None if it is absent."""
        return None if self.source.get(name) is None else self.number(name)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a boolean."""
        value = self.source.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            refuse(self.prefix + name, value, "it must be true or false")
        return value

    def require_value(self, name: str, allowed: tuple[object, ...], absent: object) -> None:
        """Raise ModelError if the value is not one of ``allowed``. absent: value of an absent field."""
        value = self.source.get(name, absent)
        if value not in allowed:
            rule = " or ".join(repr(item) for item in allowed if item is not None)
            refuse(self.prefix + name, value, f"only {rule} is supported")

    def choices(self, name: str, allowed: tuple[object, ...], length: int) -> tuple[object, ...] | None:
        """Return the first ``length`` entries of a list, each one of ``allowed``; None if the field is absent."""
        value = self.source.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) < length:
            refuse(self.prefix + name, value, f"it must be a list of {length} entries, one a layer")
        for item in value[:length]:
            if item not in allowed:
                refuse(self.prefix + name, item, f"only {' and '.join(map(repr, allowed))} are supported")
        return tuple(value[:length])
