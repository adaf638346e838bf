"""Validate fields of JSON objects."""

from __future__ import annotations

from collections.abc import Mapping


class FieldError(ValueError):
    """A field is missing or invalid. The message names it."""


def kind_of(value: object) -> str:
    """Return a description of a JSON value's type, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "an object"


def as_text(value: object, name: str) -> str:
    """Return the value if it is text that can be stored.

    Raises FieldError for other types, for unpaired surrogates, which JSON can contain but UTF-8 cannot encode, and for
    NUL, which PostgreSQL refuses.
    """
    if not isinstance(value, str):
        raise FieldError(f'"{name}" is {kind_of(value)}, it must be text')
    if "\0" in value:
        raise FieldError(f'"{name}" contains a NUL character: remove it')
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise FieldError(
            f'"{name}" contains half of a surrogate pair at character {error.start}: write the entire character'
        ) from None
    return value


def either(fields: Mapping[str, object], *names: str) -> str:
    """Return the first of a field's alternative names that has a value.

    Raises FieldError if no name has a value, or if their values differ.
    """
    present = [name for name in names if fields.get(name) is not None]
    if not present:
        raise FieldError("it has no " + " or ".join(f'"{name}"' for name in names))
    if len(present) > 1 and any(fields[name] != fields[present[0]] for name in present):
        raise FieldError(" and ".join(f'"{name}"' for name in present) + " differ: keep one of them")
    return present[0]


def identifier(fields: Mapping[str, object], *names: str) -> str:
    """Return the ID under one of the names. An integer is converted to text.

    Raises FieldError if it is missing, empty or has another type.
    """
    name = either(fields, *names)
    value = fields[name]
    found = str(value) if isinstance(value, int) and not isinstance(value, bool) else as_text(value, name)
    if not found.strip():
        raise FieldError(f'"{name}" is empty')
    return found
