"""Detection of names in an article and of their rough kinds, by capitals and word lists, without a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from model.english import word_set

Kind = Literal["person", "place", "group", "people", "other"]

_WORD = r"(?:[A-ZÀ-ÖØ-Þ][\w’'-]*[\w]|[A-Z]\.(?= [A-Z]))"
_RUN = re.compile(rf"(?<![\w’'.-]){_WORD}(?:(?: of the | of | de | von | van | der | ){_WORD})*(?<!'s)(?<!’s)")
NOT_NAMES = word_set(
    "The A An In On At By For From To With Of As And Or But If When While Although Though Because Since After "
    "Before During Until Under Over He She It They We You I His Her Its Their Our My This That These Those Such "
    "Some Many Most Few All Both Each Every Any No Not There Here Then Thus However Therefore Moreover "
    "Furthermore Also Another Other Others One Two Three Four Five Six Seven Eight Nine Ten First Second Third "
    "What Which Who Whose Where Why How Only Even Despite Like Unlike Within Without Through Among Between "
    "Following According Today Later Early Several Once So Yet Nor Is Are Was Were Has Have Had Do Does Did Can "
    "Could May Might Will Would Should Must Modern Much More Less Given Due Instead Rather Still Again Another "
    "Often Usually Generally Typically Overall Finally January February March April May June July August "
    "September October November December Monday Tuesday Wednesday Thursday Friday Saturday Sunday AD BC BCE CE II "
    "III IV VI VII VIII IX XI XII God Internet Earth English"
)
_FIRST_NAMES = word_set(
    "John William James George Charles Thomas Henry Robert Joseph Edward David Richard Paul Peter Michael Daniel "
    "Samuel Benjamin Alexander Andrew Arthur Albert Frank Frederick Louis Philip Francis Walter Martin Mark "
    "Stephen Steven Simon Matthew Anthony Christopher Patrick Kenneth Brian Kevin Jack Harry Oscar Max Karl Carl "
    "Hans Otto Ludwig Johann Friedrich Wilhelm Heinrich Franz Ernst Jean Pierre Jacques François André Marcel "
    "Émile Claude Giovanni Giuseppe Antonio Marco Carlo Pedro Juan José Miguel Luis Fernando Ivan Vladimir "
    "Nikolai Sergei Leo Leon Boris Andrei Mary Elizabeth Anne Anna Margaret Catherine Katherine Jane Sarah Alice "
    "Emma Helen Ruth Marie Maria Barbara Susan Linda Laura Julia Eleanor Victoria Charlotte Emily Isabella Sophie "
    "Clara Rosa Ayn Abraham Isaac Adam Noah Jacob Aaron Eric Ronald Donald Bill Jimmy Tom Bob Jim Joe Ben Sam "
    "Nick Tony Steve Alan Allan Ralph Ernest Ian Neil Roger Roy Keith Bruce Douglas Mohammed Muhammad Ali Ahmed "
    "Hassan Omar Ibrahim Akira Hiroshi Kenji Mao Deng Li Wang Chen Raj Indira Nelson Winston"
)
_HONORIFICS = word_set(
    "Mr Mrs Ms Dr Sir Lord Lady King Queen Prince Princess Emperor Pope Saint St President Senator General "
    "Professor Captain Admiral Colonel Governor Bishop Judge Justice Chancellor Duke Minister Sultan director "
    "writer author composer physicist philosopher actor actress singer king queen emperor president general"
)
_PLACE_WORDS = word_set(
    "River City County Island Islands Lake Mountain Mountains Valley Street Bay Sea Ocean Peninsula Province "
    "Desert Beach Park Town Village Coast Strait Gulf Republic Kingdom Airport Harbor Harbour Forest"
)
_PLACES = word_set(
    "America Europe Asia Africa Australia Canada Mexico Brazil Argentina Chile Peru Colombia Cuba England "
    "Scotland Wales Ireland Britain France Germany Austria Switzerland Italy Spain Portugal Greece Turkey Poland "
    "Hungary Romania Bulgaria Russia Ukraine Sweden Norway Denmark Finland Iceland Netherlands Belgium Egypt "
    "Libya Algeria Morocco Sudan Ethiopia Kenya Nigeria Angola Ghana Israel Syria Iraq Iran Lebanon Jordan India "
    "Pakistan Afghanistan China Japan Korea Vietnam Thailand Indonesia Malaysia Philippines London Paris Berlin "
    "Rome Vienna Moscow Madrid Athens Tokyo Beijing Boston Chicago Philadelphia California Texas Florida Virginia "
    "Ohio Illinois Alabama Alaska Georgia Pennsylvania Kentucky Tennessee Washington Hollywood Cairo Jerusalem "
    "Prague Budapest Dublin Edinburgh Munich Hamburg Venice Florence Milan"
)
_GROUP_WORDS = word_set(
    "University College School Institute Company Corporation Inc Party Church Council Committee Association "
    "Society Union League Army Navy Force Forces Museum Academy Bank Group Records Press Court Congress Senate "
    "Parliament Ministry Agency Department Commission Foundation Organization Organisation Club Team Orchestra "
    "Band Studios Pictures Entertainment"
)
_PEOPLES = word_set(
    "American British English Scottish Irish Welsh French German Austrian Swiss Italian Spanish Portuguese Greek "
    "Turkish Polish Hungarian Russian Ukrainian Swedish Norwegian Danish Finnish Dutch Belgian Egyptian Israeli "
    "Syrian Iraqi Iranian Indian Pakistani Chinese Japanese Korean Vietnamese Thai Mexican Brazilian Canadian "
    "Australian African European Asian Roman Persian Arab Jewish Christian Muslim Catholic Protestant Buddhist "
    "Hindu Soviet Ottoman Byzantine Czech Cuban"
)
_PLACE_BEFORE = word_set("in near at across throughout around outside via")
_PERSON_AFTER = word_set(
    "wrote said argued born married believed died published stated claimed studied describes described himself "
    "herself met moved thought felt taught painted composed sang starred replied"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name at text[start:end]."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name that occurs in an article. kind: its rough kind. article: whether it usually takes "the"."""

    name: str
    kind: Kind
    article: bool


def mentions(text: str, inner: frozenset[str] | set[str] = frozenset()) -> list[Mention]:
    """Return the runs of capitalised words.

    inner: words that are capitalised within sentences of the same article. A single word at the start of the sentence
    counts only if it is one of them.
    """
    found: list[Mention] = []
    for match in _RUN.finditer(text):
        start, end = match.span()
        name = match.group()
        first = name.split(" ", 1)[0]
        while first in NOT_NAMES and " " in name:
            rest = name.split(" ", 1)[1]
            rest = re.sub(r"^(?:(?:of|the|de|von|van|der) )+", "", rest)
            start, name = end - len(rest), rest
            first = name.split(" ", 1)[0]
        if name in NOT_NAMES or len(name) < 3 or any(c.isdigit() for c in name) or not name[0].isupper():
            continue
        if match.start() == start == 0 and " " not in name and name not in inner:
            continue
        if (start and text[start - 1] in '"“‘–-/') or text[end : end + 1] in ("-", "–", "/"):
            continue
        found.append(Mention(name, start, end))
    return found


def inner_names(sentences: Iterable[str]) -> set[str]:
    """Return the words and runs that are capitalised within sentences (not at the start)."""
    found: set[str] = set()
    for sentence in sentences:
        for mention in mentions(sentence):
            if mention.start:
                found.add(mention.name)
                found.update(mention.name.split())
    return found


def known_names(sentences: Iterable[str], inner: set[str]) -> dict[str, KnownName]:
    """Return every name of the sentences with its kind, by a vote over its mentions."""
    votes: dict[str, Counter[Kind]] = {}
    articles: Counter[str] = Counter()
    for sentence in sentences:
        for mention in mentions(sentence, inner):
            before = sentence[: mention.start].rstrip().rsplit(" ", 1)[-1].strip("(\"'.,")
            after = re.match(r",? ?(\w+)", sentence[mention.end :])
            kind = _kind(mention.name, before, after[1] if after else "")
            votes.setdefault(mention.name, Counter())[kind] += 1
            articles[mention.name] += 1 if before.lower() == "the" else -1
    return {name: KnownName(name, _winner(count), articles[name] > 0) for name, count in votes.items()}


def _winner(votes: Mapping[Kind, int]) -> Kind:
    sure = {kind: count for kind, count in votes.items() if kind != "other"}
    if not sure:
        return "other"
    best = max(sure, key=lambda kind: (sure[kind], kind))
    return best if sure[best] * 3 >= votes.get("other", 0) else "other"


def _kind(name: str, before: str, after: str) -> Kind:
    words = name.split()
    if name in _PEOPLES:
        return "people"
    if words[-1] in _GROUP_WORDS or words[0] in _GROUP_WORDS or (name.isupper() and len(name) < 7):
        return "group"
    if words[-1] in _PLACE_WORDS or name in _PLACES or words[0] in ("Lake", "Mount"):
        return "place"
    if words[0] in _FIRST_NAMES or before in _HONORIFICS or words[0] in _HONORIFICS:
        return "person"
    if after in _PERSON_AFTER and " of " not in name:
        return "person"
    if before in _PLACE_BEFORE:
        return "place"
    return "other"
