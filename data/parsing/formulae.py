"""Write MathML and Word (OMML) formulas as one line of text, such as 1/2, x^2 or √(a+b)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_DEPTH = 100
_ATOM = re.compile(r"[-−]?[\w.,]+|\(.*\)|.?")
_OMITTED = frozenset(re.findall(r"\S+", "annotation annotation-xml dPr ctrlPr rPr fPr radPr sSupPr sSubPr sSubSupPr"))
_LIMITS = frozenset(("msubsup", "munderover", "sSubSup"))
_RAISED = frozenset(("msup", "mover", "sSup"))
_LOWERED = frozenset(("msub", "munder", "sSub"))


@dataclass(slots=True)
class Formula:
    """An element of a formula. name: tag without namespace. parts: its text and child elements, in order."""

    name: str
    parts: list[str | Formula] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """Return the formula on one line. Elements deeper than ``MAX_DEPTH`` are omitted."""
        return " ".join(_to_line(self, 0).split())


def _to_line(node: Formula, depth: int) -> str:
    if depth > MAX_DEPTH or node.name in _OMITTED:
        return ""
    # Each part is rendered only once. Rendering it twice at every level would take exponential time.
    pieces = [part if isinstance(part, str) else _to_line(part, depth + 1) for part in node.parts]
    inner = [
        piece
        for piece, part in zip(pieces, node.parts, strict=True)
        if isinstance(part, Formula) and part.name not in _OMITTED
    ]
    match node.name:
        case "mfrac" | "f" if len(inner) == 2:
            return f"{_parenthesised(inner[0])}/{_parenthesised(inner[1])}"
        case name if name in _RAISED and len(inner) == 2:
            return f"{_parenthesised(inner[0])}^{_parenthesised(inner[1])}"
        case name if name in _LOWERED and len(inner) == 2:
            return f"{_parenthesised(inner[0])}_{_parenthesised(inner[1])}"
        case name if name in _LIMITS and len(inner) == 3:
            return f"{_parenthesised(inner[0])}_{_parenthesised(inner[1])}^{_parenthesised(inner[2])}"
        case "msqrt":
            return f"√{_parenthesised(''.join(inner), always=True)}"
        case "mroot" if len(inner) == 2:
            return f"{_root_degree(inner[1])}√{_parenthesised(inner[0], always=True)}"
        case "rad":
            return f"{_root_degree(''.join(inner[:-1]))}√{_parenthesised(inner[-1] if inner else '', always=True)}"
        case "d":
            return _with_delimiters(node, inner)
        case "mtr" | "mr":
            return f"[{', '.join(inner)}]"
        case "chr" | "begChr" | "endChr":
            return node.attributes.get("val", "")
        case "nary":
            return "".join(
                [inner[0] or "∫", *(f"{mark}{_parenthesised(part)}" for mark, part in _limits(inner)), " ", inner[-1]]
            )
        case "mo":
            return _spaced_operator("".join(part for part in node.parts if isinstance(part, str)))
    return "".join(pieces)


def _with_delimiters(node: Formula, inner: list[str]) -> str:
    """Return an expression in Word's delimiters: parentheses, unless the element dPr names others."""
    marks = {"begChr": "(", "endChr": ")"}
    for part in node.parts:
        if isinstance(part, Formula) and part.name == "dPr":
            stated = (inner for inner in part.parts if isinstance(inner, Formula))
            marks |= {one.name: one.attributes["val"] for one in stated if "val" in one.attributes}
    return f"{marks['begChr']}{', '.join(inner)}{marks['endChr']}"


def _limits(inner: list[str]) -> list[tuple[str, str]]:
    """Return the limits of a sum or integral that are present, as pairs of "_" or "^" and the limit."""
    return [(mark, part) for mark, part in zip("_^", inner[1:-1], strict=False) if part]


def _spaced_operator(sign: str) -> str:
    sign = sign.strip()
    return f" {sign} " if sign in ("=", "<", ">", "≤", "≥", "≈", "≠", "→", "∈") else sign


def _root_degree(degree: str) -> str:
    return "" if degree.strip() in ("", "2") else f"{degree}"


def _parenthesised(text: str, *, always: bool = False) -> str:
    text = text.strip()
    return text if not always and _ATOM.fullmatch(text) else f"({text})"
