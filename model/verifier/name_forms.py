"""Variants of a name: a state and its postal code, a country and its people, a street and its abbreviation."""

from __future__ import annotations


def other_forms(name: str) -> tuple[str, ...]:
    """Return variants of a lower-case name: postal codes in capitals, other words in lower case.

    States of the US and provinces of Canada of one word (longer ones have their initials as codes), countries for
    adjectives that start with other letters, and the parts of an address.
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
