"""Closed word classes of English used by several packages: number words, months, weekdays. All in lower case."""

from __future__ import annotations


def word_list(text: str) -> tuple[str, ...]:
    """Split ``text`` at white space, in order."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """Split ``text`` at white space, as a set."""
    return frozenset(text.split())


CARDINALS = word_list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
"""``CARDINALS[n]`` is n in words, for n from 0 to 20."""
TENS = word_list("twenty thirty forty fifty sixty seventy eighty ninety")
"""``TENS[n]`` is 10 (n + 2) in words."""
ORDINALS = word_list(
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
"""``ORDINALS[n]`` is the ordinal of n, for n from 0 to 20."""
MONTHS = word_list("january february march april may june july august september october november december")
WEEKDAYS = word_list("monday tuesday wednesday thursday friday saturday sunday")
