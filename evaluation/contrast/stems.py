"""Reduction of English words to a common form, so that "rose", "rises" and "rising" compare equal."""

from __future__ import annotations

from functools import lru_cache

_FORMS = """
be:is are was were been being am|have:has had having|do:does did done|buy:bought|sell:sold|rise:rose risen|
fall:fell fallen|grow:grew grown|give:gave given|take:took taken|make:made|find:found|lead:led|leave:left|
lend:lent|send:sent|spend:spent|build:built|begin:began begun|win:won|lose:lost|pay:paid|say:said|tell:told|
teach:taught|bring:brought|catch:caught|think:thought|seek:sought|fight:fought|keep:kept|meet:met|feed:fed|
hold:held|run:ran|come:came|become:became|go:went gone|see:saw seen|write:wrote written|drive:drove driven|
eat:ate eaten|break:broke broken|speak:spoke spoken|steal:stole stolen|choose:chose chosen|
freeze:froze frozen|forbid:forbade forbidden|hide:hid hidden|know:knew known|throw:threw thrown|
draw:drew drawn|fly:flew flown|show:shown|drink:drank drunk|sing:sang sung|swim:swam swum|beat:beaten|
shrink:shrank shrunk|sink:sank sunk|strike:struck|stand:stood|hear:heard|understand:understood|sleep:slept|
feel:felt|deal:dealt|mean:meant|bend:bent|lie:lay lain|wear:wore worn|bear:bore born|man:men|woman:women|
child:children|person:people|foot:feet|tooth:teeth|mouse:mice|year:yr yrs|hour:hrs|minute:mins|
kilogram:kg kgs|percent:%|0:zero|1:one|2:two|3:three|4:four|5:five|6:six|7:seven|8:eight|9:nine|10:ten|
11:eleven|12:twelve
"""
_IRREGULAR = {
    form: line.split(":")[0].strip()
    for line in _FORMS.replace("\n", "").split("|")
    for form in line.split(":")[1].split()
}


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return the common form of a lower-case word, for comparison only."""
    word = _IRREGULAR.get(word, word)
    if not word.isalpha() or len(word) <= 3:
        return word
    for ending, least in (("ing", 6), ("edly", 7), ("ed", 5), ("ies", 5), ("ied", 5), ("es", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending in ("ies", "ied") else "")
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def is_irregular(word: str) -> bool:
    """Return whether a word is an irregular form of another one: "bought", "risen"."""
    return word in _IRREGULAR
