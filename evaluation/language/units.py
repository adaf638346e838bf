"""Units of measure: which words name one, and how two of them compare.

A unit is a dimension and a factor to the dimension's base. A word may name several ("pound" is money and mass). Only
exact factors are listed: a month is no number of days.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Unit:
    """factor: how many of the dimension's base one of it is. name: the singular word it is shown as."""

    name: str
    dimension: str
    factor: Fraction


def _table() -> dict[str, tuple[Unit, ...]]:
    rows = (
        ("time", "second seconds sec secs s", "1"),
        ("time", "millisecond milliseconds ms", "1/1000"),
        ("time", "minute minutes min mins", "60"),
        ("time", "hour hours hr hrs h", "3600"),
        ("time", "day days", "86400"),
        ("time", "week weeks", "604800"),
        ("time", "fortnight fortnights", "1209600"),
        ("months", "month months", "1"),
        ("months", "year years yr yrs", "12"),
        ("months", "decade decades", "120"),
        ("months", "century centuries", "1200"),
        ("mass", "kilogram kilograms kilogramme kilogrammes kg kgs kilo kilos", "1"),
        ("mass", "gram grams gramme grammes g", "1/1000"),
        ("mass", "milligram milligrams mg", "1/1000000"),
        ("mass", "tonne tonnes", "1000"),
        ("mass", "pound pounds lb lbs", "45359237/100000000"),
        ("mass", "ounce ounces oz", "45359237/1600000000"),
        ("length", "metre metres meter meters m", "1"),
        ("length", "kilometre kilometres kilometer kilometers km kms", "1000"),
        ("length", "centimetre centimetres centimeter centimeters cm", "1/100"),
        ("length", "millimetre millimetres millimeter millimeters mm", "1/1000"),
        ("length", "micrometre micrometres micron microns", "1/1000000"),
        ("length", "nanometre nanometres nm", "1/1000000000"),
        ("length", "inch inches", "254/10000"),
        ("length", "foot feet ft", "3048/10000"),
        ("length", "yard yards yd", "9144/10000"),
        ("length", "mile miles mi", "1609344/1000"),
        ("volume", "litre litres liter liters l", "1"),
        ("volume", "millilitre millilitres milliliter milliliters ml", "1/1000"),
        ("area", "hectare hectares ha", "10000"),
        ("data", "byte bytes", "1"),
        ("data", "kilobyte kilobytes kb", "1000"),
        ("data", "megabyte megabytes mb", "1000000"),
        ("data", "gigabyte gigabytes gb", "1000000000"),
        ("data", "terabyte terabytes tb", "1000000000000"),
        ("ratio", "percent % percentage pct", "1"),
        ("celsius", "celsius centigrade °c", "1"),
        ("fahrenheit", "fahrenheit °f", "1"),
        ("kelvin", "kelvin", "1"),
        ("angle", "degree degrees °", "1"),
        ("power", "watt watts w", "1"),
        ("power", "kilowatt kilowatts kw", "1000"),
        ("power", "megawatt megawatts mw", "1000000"),
        ("energy", "kilowatt-hour kwh", "1"),
        ("energy", "megawatt-hour mwh", "1000"),
        ("voltage", "volt volts v", "1"),
        ("current", "amp amps ampere amperes", "1"),
        ("frequency", "hertz hz", "1"),
        ("frequency", "kilohertz khz", "1000"),
        ("frequency", "megahertz mhz", "1000000"),
        ("frequency", "gigahertz ghz", "1000000000"),
        ("pressure", "bar bars", "1"),
        ("speed", "kph kmh", "1"),
        ("speed", "mph", "1609344/1000000"),
        ("gbp", "pound pounds £ gbp sterling quid", "1"),
        ("gbp", "penny pence p", "1/100"),
        ("usd", "dollar dollars $ usd", "1"),
        ("usd", "cent cents", "1/100"),
        ("eur", "euro euros € eur", "1"),
        ("eur", "cent cents", "1/100"),
        ("jpy", "yen ¥ jpy", "1"),
        ("chf", "franc francs chf", "1"),
        ("sek", "krona kronor sek", "1"),
        ("inr", "rupee rupees inr", "1"),
    )
    table: dict[str, tuple[Unit, ...]] = {}
    for dimension, words, factor in rows:
        names = words.split()
        for word in names:
            table[word] = (*table.get(word, ()), Unit(names[0], dimension, Fraction(factor)))
    return table


UNITS = _table()
CURRENCIES = frozenset({"£", "$", "€", "¥", "gbp", "usd", "eur", "jpy", "chf", "sek", "inr"})


def units_named(word: str) -> tuple[Unit, ...]:
    """The units a lower-case word may name; empty when it names none."""
    return UNITS.get(word, ())


def same_measure(a: Fraction, a_units: tuple[Unit, ...], b: Fraction, b_units: tuple[Unit, ...]) -> bool:
    """Whether a and b, in some reading of their units, measure the same: 90 minutes and 1.5 hours do."""
    return any(u.dimension == v.dimension and a * u.factor == b * v.factor for u in a_units for v in b_units)
