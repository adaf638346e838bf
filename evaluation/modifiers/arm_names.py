"""Parse arm names: ``BASE+MODIFIER[:VALUE]...``, several separated by commas.

``rag+position:each`` expands to one arm per position. A modifier without a base uses its default base. Policies
(``rag+strip+abstain``) are modifiers of the answers. The canonical name lists them in the order in which they run.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from evaluation.errors import EvaluationError
from evaluation.modifiers.injection import POSITIONS
from evaluation.policies.plan import POLICY_SAMPLES
from evaluation.policy_names import ORDER, PolicyName

BASES = ("closed_book", "rag", "oracle")
_TONES = ("sure", "unsure")


@dataclass(frozen=True, slots=True)
class ModifierKind:
    """A kind of modifier with the values that it accepts.

    takes: description of the value after the colon; "" if it takes no value.
    number: whether the value is a number. choices: other valid values.
    default: value without a colon; "" if a value is required.
    alone: default base; "" if there is none.
    least: smallest valid number.
    """

    takes: str
    number: bool = False
    choices: tuple[str, ...] = ()
    default: str = ""
    alone: str = ""
    least: int = 1


KINDS: dict[str, ModifierKind] = {
    "distractors": ModifierKind("how many", number=True),
    "position": ModifierKind('a position from 1 to k, or "each"', number=True, choices=("each",)),
    "sycophancy": ModifierKind("sure or unsure", choices=_TONES, default="unsure", alone="closed_book"),
    "injection": ModifierKind("first or last", choices=POSITIONS, default="first", alone="rag"),
    "few_shot": ModifierKind("how many", number=True, default="3", alone="closed_book"),
    "chain_of_thought": ModifierKind("", alone="closed_book"),
    "flag": ModifierKind(""),
    "strip": ModifierKind(""),
    "best_of_n": ModifierKind("how many samples, at least 2", number=True, default=str(POLICY_SAMPLES), least=2),
    "correct": ModifierKind(""),
    "abstain": ModifierKind(""),
}


@dataclass(frozen=True, slots=True)
class ModifierName:
    """A parsed modifier. value: value after the colon or the default value; "" for none."""

    kind: str
    value: str

    @property
    def text(self) -> str:
        """Canonical name, without an optional default value."""
        known = KINDS[self.kind]
        return (
            self.kind
            if not self.value or (not known.number and self.value == known.default)
            else f"{self.kind}:{self.value}"
        )


@dataclass(frozen=True, slots=True)
class ArmName:
    """A parsed arm name."""

    base: str
    modifiers: tuple[ModifierName, ...] = ()

    @property
    def text(self) -> str:
        """Name of the arm in rows and reports."""
        return "+".join((self.base, *(m.text for m in self.modifiers)))

    @property
    def policies(self) -> tuple[PolicyName, ...]:
        """Policies of the arm in running order."""
        kinds = {m.kind for m in self.modifiers}
        return tuple(name for name in ORDER if name in kinds)

    @property
    def policy_samples(self) -> int:
        """Number of samples from which ``best_of_n`` chooses; 1 without ``best_of_n``."""
        return next((int(m.value) for m in self.modifiers if m.kind == "best_of_n"), 1)

    @property
    def searches(self) -> bool:
        """Whether the arm needs a collection."""
        return self.base != "closed_book" or any(m.kind in ("distractors", "position") for m in self.modifiers)


def parse_arms(text: str, k: int) -> tuple[ArmName, ...]:
    """Parse a list such as ``closed_book,rag+distractors:3,oracle+position:each``.

    k: number of chunks shown, which is the number of positions of ``each``.

    Raises EvaluationError with the invalid name, the valid names and a suggestion.
    """
    arms: list[ArmName] = []
    for part in text.split(","):
        named = parse_arm(part.strip())
        each = [m for m in named.modifiers if m.value == "each"]
        positions = range(1, k + 1) if each else range(1)
        for position in positions:
            modifiers = tuple(ModifierName(m.kind, str(position)) if m in each else m for m in named.modifiers)
            arms.append(ArmName(named.base, modifiers))
    return tuple(arms)


def parse_arm(text: str) -> ArmName:
    """Parse one arm without expanding ``each``. Raises the errors of ``parse_arms``."""
    if not text:
        raise EvaluationError(f"an arm's name is empty: name arms separated by commas, {_bases()}")
    first, *rest = text.split("+")
    if first in BASES:
        base = first
    else:
        kind = first.partition(":")[0]
        if kind not in KINDS or not KINDS[kind].alone:
            raise EvaluationError(_unknown_arm(text, kind))
        base, rest = KINDS[kind].alone, [first, *rest]
    modifiers = tuple(_modifier(part, text) for part in rest)
    twice = [m.kind for m in modifiers if sum(o.kind == m.kind for o in modifiers) > 1]
    if twice:
        raise EvaluationError(f"the arm {text!r} has {twice[0]} twice: name each modifier once")
    return _in_order(ArmName(base, modifiers), text)


def _in_order(arm: ArmName, text: str) -> ArmName:
    """Return the arm with its policies in running order. Raises EvaluationError unless they act on plain rag."""
    if not arm.policies:
        return arm
    if arm.base != "rag" or len(arm.policies) < len(arm.modifiers):
        raise EvaluationError(
            f"the arm {text!r}: policies ({', '.join(arm.policies)}) can only be added to rag, without other modifiers"
        )
    return ArmName(arm.base, tuple(sorted(arm.modifiers, key=lambda m: ORDER.index(m.kind))))


def _modifier(part: str, name: str) -> ModifierName:
    kind, colon, value = part.partition(":")
    known = KINDS.get(kind)
    if known is None:
        raise EvaluationError(
            f"the arm {name!r}: there is no modifier {kind!r}{_suggestion(kind)}; there are {', '.join(KINDS)}"
        )
    if not known.takes and colon:
        raise EvaluationError(f"the arm {name!r}: {kind} takes no value")
    value = value if colon else known.default
    if known.takes and not _is_valid(value, known):
        example = f"{kind}:{known.choices[0] if known.choices else 3}"
        raise EvaluationError(f"the arm {name!r}: {kind} needs {known.takes}, as in {example}; {value!r} is invalid")
    return ModifierName(kind, str(int(value)) if known.number and value.isdecimal() else value)


def _is_valid(value: str, kind: ModifierKind) -> bool:
    if value in kind.choices:
        return True
    return kind.number and value.isascii() and value.isdecimal() and kind.least <= int(value[:9]) <= 1000


def _unknown_arm(text: str, kind: str) -> str:
    if kind in KINDS:
        return f"the arm {text!r} must name its base: rag+{text} or oracle+{text}"
    return f"there is no arm {text!r}{_suggestion(kind)}: {_bases()}"


def _bases() -> str:
    alone = ", ".join(name for name, kind in KINDS.items() if kind.alone)
    return (
        f"arms are {', '.join(BASES)}, each with modifiers after a plus (+{', +'.join(KINDS)}); {alone} have a "
        "default base. See docs/arms.md"
    )


def _suggestion(name: str) -> str:
    close = difflib.get_close_matches(name, (*BASES, *KINDS), n=1)
    return f" (did you mean {close[0]}?)" if close else ""
