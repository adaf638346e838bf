"""Extract the values of a token sequence: numbers with units and counted nouns, dates, times, ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluation.language.dates import date_at, time_at
from evaluation.language.normalise import STOP_WORDS, Token, singular
from evaluation.language.numerals import Numeral, numeral_at
from evaluation.language.units import CURRENCIES, Unit, units_named
from evaluation.language.values import Bound, Value
from model.english import WEEKDAYS, word_set

_BOUNDS: tuple[tuple[tuple[str, ...], Bound], ...] = (
    (("no", "more", "than"), "at most"),
    (("not", "more", "than"), "at most"),
    (("no", "later", "than"), "at most"),
    (("not", "later", "than"), "at most"),
    (("not", "exceed"), "at most"),
    (("not", "exceeding"), "at most"),
    (("no", "less", "than"), "at least"),
    (("not", "less", "than"), "at least"),
    (("no", "fewer", "than"), "at least"),
    (("not", "fewer", "than"), "at least"),
    (("no", "earlier", "than"), "at least"),
    (("a", "maximum", "of"), "at most"),
    (("a", "minimum", "of"), "at least"),
    (("at", "most"), "at most"),
    (("up", "to"), "at most"),
    (("maximum", "of"), "at most"),
    (("at", "least"), "at least"),
    (("minimum", "of"), "at least"),
    (("more", "than"), "above"),
    (("greater", "than"), "above"),
    (("later", "than"), "above"),
    (("less", "than"), "below"),
    (("fewer", "than"), "below"),
    (("earlier", "than"), "below"),
    (("over",), "above"),
    (("above",), "above"),
    (("exceeding",), "above"),
    (("after",), "above"),
    (("under",), "below"),
    (("below",), "below"),
    (("before",), "below"),
    (("within",), "at most"),
    (("by",), ""),
)
_SPEEDS = {
    (length, joint, time): name
    for lengths, times, name in (
        ("km kms kilometres kilometers kilometre kilometer", "h hr hour", "kmh"),
        ("miles mile mi", "h hr hour", "mph"),
        ("m metres meters metre meter", "s sec second", "mps"),
    )
    for length in lengths.split()
    for joint in ("/", "per", "an", "a")
    for time in times.split()
}
_POWERS = {"square": 2, "cubic": 3}
_FILLER = STOP_WORDS | word_set(
    "approximately around roughly circa nearly almost exactly only just some year date until since during between "
    "approx ca total equal o'clock pm am ago precisely"
)
_NOT_NOUNS = _FILLER | {
    "each",
    "per",
    "every",
    "not",
    "no",
    "never",
    "but",
    "because",
    "while",
    "if",
    "all",
    "also",
    "or",
}


def _word(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].lower if 0 <= index < len(tokens) else ""


def _bound_before(tokens: Sequence[Token], start: int) -> tuple[Bound, int]:
    """Return the comparison that ends directly before tokens[start], and its start index. Filler words are skipped."""
    end = start
    while end > 0 and _word(tokens, end - 1) in ("the", "about", "around", "approximately", "exactly"):
        end -= 1
    for words, bound in _BOUNDS:
        if end >= len(words) and tuple(t.lower for t in tokens[end - len(words) : end]) == words:
            return bound, end - len(words)
    return "", start


def _unit_after(tokens: Sequence[Token], numeral: Numeral) -> tuple[tuple[Unit, ...], frozenset[str], int]:
    """Return (units, nouns or words between, end) for what follows a number."""
    last = tokens[numeral.end - 1]
    if last.kind == "number" and last.suffix:
        return units_named(last.suffix), frozenset(), numeral.end
    end = numeral.end
    if _word(tokens, end) == "°" and _word(tokens, end + 1) in ("c", "f"):
        return units_named("°" + _word(tokens, end + 1)), frozenset(), end + 2
    if end < len(tokens) and tokens[end].text in ("C", "F"):
        return units_named("°" + _word(tokens, end)), frozenset(), end + 1
    speed = _SPEEDS.get((_word(tokens, end), _word(tokens, end + 1), _word(tokens, end + 2)))
    if speed:
        return units_named(speed), frozenset(), end + 3
    if _word(tokens, end) in ("degrees", "degree") and units_named(_word(tokens, end + 1)):
        return units_named(_word(tokens, end + 1)), frozenset(), end + 2
    if _word(tokens, end) == "per" and _word(tokens, end + 1) == "cent":
        return units_named("percent"), frozenset(), end + 2
    if _word(tokens, end) == "-" and end + 1 < len(tokens) and tokens[end + 1].kind == "word":
        end += 1
    if numeral.fraction and _word(tokens, end) in ("a", "an", "of") and units_named(_word(tokens, end + 1)):
        return units_named(_word(tokens, end + 1)), frozenset(), end + 2
    nouns: list[str] = []
    while end < len(tokens) and len(nouns) < 3:
        word = _word(tokens, end)
        if units_named(word) and not (word in ("in", "second") and nouns):
            return _powered(word, nouns), frozenset(n for n in nouns if n not in _POWERS), end + 1
        if tokens[end].kind != "word" or word in _NOT_NOUNS or word.endswith(("ed", "n't")):
            break
        if numeral_at(tokens, end) is not None:  # the unit is that of the later number: "the Heron 4 lasts five years"
            break
        nouns.append(singular(word))
        end += 1
    if numeral.times:
        nouns = ["time"]
    return (), frozenset(nouns), end


def _powered(word: str, before: Sequence[str]) -> tuple[Unit, ...]:
    """Return the units that a word names, squared or cubed if the word before it says so."""
    power = next((p for w, p in _POWERS.items() if w in before), 1)
    if power == 1:
        return units_named(word)
    return tuple(Unit(u.name, f"{u.dimension}^{power}", u.factor**power) for u in units_named(word))


def _number_value(tokens: Sequence[Token], index: int) -> Value | None:
    start = index
    currency: tuple[Unit, ...] = ()
    if _word(tokens, index) in CURRENCIES and index + 1 < len(tokens):
        currency, index = units_named(_word(tokens, index)), index + 1
    numeral = numeral_at(tokens, index)
    if numeral is None:
        return None
    if currency:
        currency = tuple(u for u in currency if u.factor == 1)
        token = tokens[index]
        # After a currency sign "m" means million and "b" billion, never metres.
        scale = {"m": 10**6, "b": 10**9}.get(token.suffix or _word(tokens, numeral.end), 1)
        end = numeral.end + (1 if scale > 1 and not token.suffix else 0)
        numeral = Numeral(numeral.value * scale, numeral.start, end)
        units, nouns = currency, frozenset[str]()
    else:
        units, nouns, end = _unit_after(tokens, numeral)
    per = ""
    article = ("a", "an") if units or numeral.times else ()
    joins = _word(tokens, end) in ("per", "/", "each", "every", *article)
    if joins and end + 1 < len(tokens) and tokens[end + 1].kind == "word":
        per, end = singular(_word(tokens, end + 1)), end + 2
    bare = numeral.end == numeral.start + 1 and tokens[numeral.start].lower in ("one", "second")
    if bare and not units and not nouns and end < len(tokens) and tokens[end].kind == "word" and not per:
        return None  # a pronoun, as in "one of the" or "one should"
    return Value(start, end, number=numeral, units=units, nouns=nouns, per=per)


def _simple_at(tokens: Sequence[Token], index: int) -> Value | None:
    date = date_at(tokens, index)
    if date is not None:
        return Value(date.start, date.end, date=date)
    time = time_at(tokens, index)
    if time is not None:
        return Value(time.start, time.end, time=time)
    return _number_value(tokens, index)


def _range_from(tokens: Sequence[Token], low: Value) -> Value | None:
    """Return the range whose lower end is ``low`` ("10 to 20", "between 10 and 20", "10-20 days"), or None."""
    joint = low.end
    word = _word(tokens, joint)
    between = low.start > 0 and _word(tokens, low.start - 1) == "between"
    if word not in ("to", "-", "until", "till") and not (between and word == "and"):
        return None
    high = _simple_at(tokens, joint + 1) if joint + 1 < len(tokens) else None
    if high is None or (low.number is None) != (high.number is None):
        return None
    if low.number is not None and high.number is not None:
        if high.number.value <= low.number.value:
            return None
        if not low.units and not low.nouns:
            low = Value(low.start, low.end, low.number, high.units, high.nouns, high.per)
        elif not high.units:
            high = Value(high.start, high.end, high.number, low.units, low.nouns, low.per or high.per)
    return Value(low.start, high.end, range=(low, high))


def find_values(tokens: Sequence[Token]) -> tuple[Value, ...]:
    """Return all values of a token sequence, from left to right, without nested ones."""
    found: list[Value] = []
    index = 0
    while index < len(tokens):
        value = _simple_at(tokens, index)
        if value is None:
            index += 1
            continue
        value = _range_from(tokens, value) or value
        bound, _ = _bound_before(tokens, value.start)
        found.append(replace(value, bound=bound))
        index = value.end
    return tuple(found)


def is_pure(tokens: Sequence[Token], values: Sequence[Value]) -> bool:
    """Return whether a text consists of values and filler words only ("about 14 days", "on 4 March 2021")."""
    inside = {i for v in values for i in range(_bound_before(tokens, v.start)[1], v.end)}
    outside = [t for i, t in enumerate(tokens) if i not in inside and t.kind != "mark"]
    return bool(values) and all(t.lower in _FILLER or t.lower in WEEKDAYS for t in outside)
