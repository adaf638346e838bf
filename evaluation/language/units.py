"""Define units of measurement by the words that name them, and compare quantities.

A unit has a dimension and a factor to the dimension's base unit. A word may name several units ("pound" is money and
mass). Only exact factors are listed, so a month is not a number of days.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit. name: singular word for display. factor: size of the unit in the dimension's base unit."""

    name: str
    dimension: str
    factor: Fraction


def _table() -> dict[str, tuple[Unit, ...]]:
    rows = (
        ("time", "second seconds sec secs s", "1"),
        ("time", "millisecond milliseconds ms", "1/1000"),
        ("time", "minute minutes min mins minuten minuti minutos минут минуты", "60"),
        ("time", "hour hours hr hrs h stunde stunden heure heures horas hora ore uur час часа часов", "3600"),
        ("time", "day days tage tagen jours jour dias dia giorni giorno dagen день дня днеи", "86400"),
        (
            "time",
            "week weeks woche wochen semaine semaines semana semanas settimana settimane weken неделя недели недель",
            "604800",
        ),
        ("time", "fortnight fortnights", "1209600"),
        ("months", "month months monat monate monaten mois meses mesi maanden месяц месяца месяцев", "1"),
        ("months", "year years yr yrs jahr jahre jahren ans annees ano anos anni anno jaar год года лет", "12"),
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
        ("area", "acre acres", "40468564224/10000000"),
        ("volume", "gallon gallons", "3785411784/1000000000"),
        ("volume", "pint pints", "473176473/1000000000"),
        ("length", "nautical-mile", "1852"),
        ("area", "hectare hectares ha", "10000"),
        ("data", "byte bytes", "1"),
        ("data", "kibibyte kibibytes kib", "1024"),
        ("data", "mebibyte mebibytes mib", "1048576"),
        ("data", "gibibyte gibibytes gib", "1073741824"),
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
        ("speed", "mps", "18/5"),
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
        ("inr", "rupee rupees ₹ inr rs", "1"),
        ("krw", "won ₩ krw", "1"),
        ("cny", "yuan renminbi rmb cny", "1"),
        ("nok", "krone kroner nok dkk", "1"),
        ("pln", "zloty zlotys pln", "1"),
    )
    table: dict[str, tuple[Unit, ...]] = {}
    for dimension, words, factor in rows:
        names = words.split()
        for word in names:
            table[word] = (*table.get(word, ()), Unit(names[0], dimension, Fraction(factor)))
    return table


UNITS = _table()
CURRENCIES = frozenset(
    {"£", "$", "€", "¥", "gbp", "usd", "eur", "jpy", "chf", "sek", "inr", "₹", "₩", "krw", "cny", "nok", "pln"}
)


def units_named(word: str) -> tuple[Unit, ...]:
    """Return the units that a lower-case word may name; empty if none."""
    return UNITS.get(word, ())


_IMPERIAL = frozenset(
    {"pound", "ounce", "inch", "foot", "yard", "mile", "mph", "acre", "gallon", "pint", "nautical-mile"}
)


def _same_data(a: Fraction, u: Unit, b: Fraction, v: Unit) -> bool:
    """Return whether two amounts of data are equal if 1024 counts as 1000: 2 GB and 2048 MB."""
    powers = {Fraction(1000) ** n: Fraction(1024) ** n for n in range(5)}
    one, other = powers.get(u.factor), powers.get(v.factor)
    return one is not None and other is not None and a * one == b * other


def rounded_measure(
    reference: Fraction,
    reference_units: tuple[Unit, ...],
    answer: Fraction,
    answer_units: tuple[Unit, ...],
    step: Fraction,
) -> bool:
    """Return whether an answer is the reference, converted between metric and imperial units and rounded.

    For example, 5 km is 3.1 miles. Degrees Celsius and Fahrenheit are converted too.

    step: value of the answer's last decimal place. Except for temperatures, the answer must be at least 10 steps.
    """
    for u in reference_units:
        for v in answer_units:
            temperatures = {u.dimension, v.dimension} == {"celsius", "fahrenheit"}
            if temperatures:
                exact = reference * 9 / 5 + 32 if u.dimension == "celsius" else (reference - 32) * 5 / 9
                if abs(exact - answer) <= step / 2:
                    return True
            crossing = (u.name in _IMPERIAL) != (v.name in _IMPERIAL)
            if u.dimension != v.dimension or not crossing or abs(answer) < 10 * step:
                continue
            if abs(reference * u.factor / v.factor - answer) <= step / 2:
                return True
    return False


def same_measure(a: Fraction, a_units: tuple[Unit, ...], b: Fraction, b_units: tuple[Unit, ...]) -> bool:
    """Return whether a and b are equal for some choice of their units: 90 minutes and 1.5 hours."""
    return any(
        u.dimension == v.dimension
        and (a * u.factor == b * v.factor or (u.dimension == "data" and _same_data(a, u, b, v)))
        for u in a_units
        for v in b_units
    )
