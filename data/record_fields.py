"""Find the fields of an answer in an object: by the names that the user gives, or by known names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from data.answer_names import FIRST_ANSWERS, NAMES
from data.fields import FieldError

_PASSAGE_WORDS = 25
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)")


@dataclass(frozen=True, slots=True)
class FieldNames:
    """Names of the fields of an answer. None: the default names (NAMES). labels: whether labels are read."""

    question: str | None = None
    answer: str | None = None
    contexts: str | None = None
    references: str | None = None
    arm: str | None = None
    id: str | None = None
    sample: str | None = None
    group: str | None = None
    answerable: str | None = None
    hallucinated: str | None = None
    supported: str | None = None
    labels: bool = True

    def named(self) -> tuple[str, ...]:
        """Return the parts whose field the user has named."""
        return tuple(f.name for f in fields(self) if f.name != "labels" and getattr(self, f.name) is not None)


class RecordFields:
    """The fields of an object, found by the parts of an answer (question, answer, contexts, ...)."""

    def __init__(self, row: Mapping[str, object], names: FieldNames) -> None:
        self._row, self._names = row, names
        self._by_name = {normalised(key): key for key in reversed([k for k in row if isinstance(k, str)])}

    def name(self, part: str) -> str:
        """Return the name of the field that contains a part, or the first possible name if it is missing."""
        named = getattr(self._names, part, None)
        if named is not None:
            return str(named)
        return next((self._original(name) for name in NAMES[part] if self._value(name) is not None), NAMES[part][0])

    def reference_is_evidence(self, references: tuple[str, ...], answer: str) -> bool:
        """Return whether "reference" contains the evidence of the answer, as in RefChecker, not an accepted answer.

        It does if there are extracted claims, or if there is a "response" and the reference is a passage: at least two
        sentences or 25 words, and longer than the answer. In Ragas records, which have "user_input", it is the accepted
        answer.
        """
        if self._names.references is not None or self.name("references") != "reference":
            return False
        if "claims" in self._by_name:
            return True
        if self.name("answer") != "response" or "user_input" in self._by_name:
            return False
        text = " ".join(references)
        passage = len(text.split()) >= _PASSAGE_WORDS or len(_SENTENCE_END.findall(text.strip())) >= 2
        return passage and len(text) > len(answer)

    def has(self, part: str) -> bool:
        """Return whether the part is present."""
        return self.get(part) is not None

    def get(self, part: str) -> object:
        """Return the value of a part; None if it is missing or null."""
        named = getattr(self._names, part, None)
        if named is not None:
            return self._row.get(named) if named in self._row else self._value(named)
        return next((v for name in NAMES[part] if (v := self._value(name)) is not None), None)

    def one(self, part: str) -> object:
        """Return the value of a required part; "" if it is null.

        Raises FieldError if it is missing, or if several fields with different values may contain it.
        """
        named = getattr(self._names, part, None)
        if named is not None:
            if named not in self._row and not self._has(named):
                raise FieldError(f'it has no "{named}": it has {_listing(self._row)}')
            return self.get(part) or ""
        present = [name for name in NAMES[part][:FIRST_ANSWERS] if self._has(name)]
        if not present:
            later = [name for name in NAMES[part][FIRST_ANSWERS:] if self._has(name)]
            present = [name for name in later if not isinstance(self._value(name), Mapping | list)]
        if not present:
            raise FieldError(
                f"no field is known to be the {part} (looked for {', '.join(NAMES[part])}; there are "
                f"{_listing(self._row)}): name it as the field {part}"
            )
        values = [v for name in present if (v := self._value(name)) is not None]
        if any(v != values[0] for v in values):
            both = " and ".join(f'"{self._original(name)}"' for name in present)
            raise FieldError(f"{both} could each be the {part}: name one as the field {part}")
        return values[0] if values else ""

    def label(self, parts: tuple[str, ...]) -> tuple[str, str, object]:
        """Return (part, field, value) of the label; ("", "", None) if there is none."""
        explicit = [p for p in parts if getattr(self._names, p, None) is not None]
        for part in explicit or parts:
            value = self.get(part)
            if value is not None and value != "":
                return part, self.name(part), value
        return "", "", None

    def _has(self, name: str) -> bool:
        return normalised(name) in self._by_name or self._value(name) is not None

    def _original(self, name: str) -> str:
        return self._by_name.get(normalised(name), name)

    def _value(self, name: str) -> object:
        if normalised(name) in self._by_name:
            return self._row[self._by_name[normalised(name)]]
        value: object = self._row
        for step in name.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        return value if "." in name else None


def normalised(name: str) -> str:
    """Return the name in lower case with underscores."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def _listing(row: Mapping[str, object]) -> str:
    names = [str(key)[:40] for key in row]
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") if names else "no field"
