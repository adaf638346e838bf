"""Table of variants of names: states and postal codes, countries and their adjectives, streets and abbreviations."""

from __future__ import annotations


def other_forms(name: str) -> tuple[str, ...]:
    """Return the variants of a lower-case name: postal codes in capitals, other words in lower case.

    The table has US states and Canadian provinces of one word (the codes of longer names are their initials), countries
    whose adjective starts differently, and parts of addresses.
    """
    return _FORMS.get(name, ())


_CODES = (
    "Alabama AL Alaska AK Alberta AB Arizona AZ Arkansas AR California CA Colorado CO Connecticut CT Delaware DE "
    "Florida FL Georgia GA Hawaii HI Idaho ID Illinois IL Indiana IN Iowa IA Kansas KS Kentucky KY Louisiana LA "
    "Maine ME Manitoba MB Maryland MD Massachusetts MA Michigan MI Minnesota MN Mississippi MS Missouri MO "
    "Montana MT Nebraska NE Nevada NV Ohio OH Oklahoma OK Ontario ON Oregon OR Pennsylvania PA Quebec QC Québec "
    "QC Saskatchewan SK Tennessee TN Texas TX Utah UT Vermont VT Virginia VA Washington WA Wisconsin WI Wyoming "
    "WY"
)
_PEOPLES = (
    "british uk danish denmark dutch netherlands english england finnish finland french france irish ireland "
    "norwegian norway polish poland portuguese portugal spanish spain swiss switzerland welsh wales americans usa "
    "american usa"
)
_ADDRESS = (
    "avenue ave boulevard blvd building bldg court ct drive dr fort ft highway hwy lane ln mount mt mountain mt "
    "parkway pkwy place pl road rd saint st square sq street st suite ste terrace ter"
)


def _pairs(words: str) -> list[tuple[str, str]]:
    split = words.split()
    return list(zip(split[::2], split[1::2], strict=True))


def _collected() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, code in _pairs(_CODES):
        found[name.lower()] = (code,)
    for one, other in (*_pairs(_PEOPLES), *_pairs(_ADDRESS)):
        found[one] = (*found.get(one, ()), other)
        found[other] = (*found.get(other, ()), one)
    return found


_FORMS = _collected()
