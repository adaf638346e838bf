"""Rule-based paraphrases: numbers as words or digits, date order, contractions, safe synonyms."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from evaluation.synthetic_claims.numbers import MONTHS
from model.english import CARDINALS

_MONTH = "|".join(MONTHS)
# Both directions are safe in any sentence. "_" marks one direction only: left to right.
_SYNONYMS = tuple(
    (re.compile(rf"(?<![\w’'-]){left}(?![\w’'-])"), right)
    for left, right in (
        ("is located in", "lies in"),
        ("is situated in", "is located in"),
        ("are located in", "are found in"),
        ("approximately", "about"),
        ("approximately", "roughly"),
        ("roughly", "about"),
        ("due to", "because of"),
        ("in order to", "to"),
        ("a number of", "several"),
        ("numerous", "many"),
        ("however", "though"),
        ("began", "started"),
        ("commenced", "began"),
        ("prior to", "before"),
        ("subsequently", "later"),
        ("subsequent to", "after"),
        ("purchased", "bought"),
        ("obtained", "got"),
        ("acquired", "obtained"),
        ("utilized", "used"),
        ("assisted", "helped"),
        ("attempted to", "tried to"),
        ("resided in", "lived in"),
        ("died in", "passed away in"),
        ("such as", "like"),
        ("for example", "for instance"),
        ("as well as", "and also"),
        ("is regarded as", "is seen as"),
        ("is considered", "is regarded as"),
        ("is composed of", "is made up of"),
        ("consists of", "is made up of"),
        ("consisted of", "was made up of"),
        ("is known as", "is called"),
        ("was known as", "was called"),
        ("are known as", "are called"),
        ("also known as", "also called"),
        ("primarily", "mainly"),
        ("mainly", "chiefly"),
        ("mostly", "for the most part"),
        ("frequently", "often"),
        ("occasionally", "sometimes"),
        ("until the present", "until now"),
        ("throughout", "all through"),
        ("within", "inside"),
        ("large", "big"),
        ("enormous", "huge"),
        ("difficult", "hard"),
        ("important", "significant"),
        ("entire", "whole"),
        ("famous", "well-known"),
        ("demonstrated", "showed"),
        ("stated that", "said that"),
        ("states that", "says that"),
        ("claimed that", "asserted that"),
        ("received", "was given"),
        ("was awarded", "received"),
        ("was named", "was called"),
        ("wrote a", "authored a"),
        ("children", "kids"),
        ("movie", "film"),
        ("film", "movie"),
        ("while", "whereas"),
        ("can be used", "may be used"),
        ("is able to", "can"),
        ("are able to", "can"),
        ("was able to", "managed to"),
        ("took place in", "happened in"),
        ("occurred", "took place"),
        ("contains", "has"),
        ("possesses", "has"),
        ("requires", "needs"),
        ("the United States", "the US"),
        ("the U.S.", "the United States"),
        ("the United Kingdom", "the UK"),
        ("almost", "nearly"),
        ("nearly", "almost"),
        ("whole", "entire"),
        ("between (\\d+) and (\\d+)", r"from \1 to \2"),
        ("(\\d+) percent", r"\1%"),
        ("(\\d+)%", r"\1 percent"),
        ("(\\d+) per cent", r"\1 percent"),
        ("&", "and"),
    )
    if "passed away" not in right and left not in ("while", "within", "whole", "received", "film")
)
_ANY_SYNONYM = re.compile("|".join(rule[0].pattern.replace("(\\d+)", "\\d+") for rule in _SYNONYMS))
_CONTRACTIONS = (
    (re.compile(r"\b(is|are|was|were|does|do|did|has|have|had|could|would|should) not\b"), r"\1n't"),
    (re.compile(r"\bcannot\b"), "can't"),
    (re.compile(r"\b([Ii])t is\b(?! not)"), r"\1t's"),
    (re.compile(r"\b(They|they) are\b(?! not)"), r"\1're"),
    (re.compile(r"\b(He|he|She|she) is\b(?! not)"), r"\1's"),
)
_EXPANSIONS = ((re.compile(r"\b(is|are|was|were|does|do|did|has|have|had|could|would|should)n['’]t\b"), r"\1 not"),)
_MONTH_DAY = re.compile(rf"\b({_MONTH}) (\d{{1,2}})(?:, (\d{{4}})(?:,(?= [a-z]))?)?(?![\d–-])")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}}) ({_MONTH})(?: (\d{{4}}))?(?!\d)")
_SMALL = re.compile(
    rf"(?<![\w.,/$£€–-])(?P<digits>[2-9]|1[0-2])(?= (?!(?:{_MONTH}|million|billion|percent|per|BC|AD|km|m|"
    rf"kg)\b)[a-z]{{3}})"
)
_WORDS = re.compile(
    r"(?<![\w-])(?P<word>two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?= [a-z]{3})(?! of)"
)
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.,]\d)")
_PASSIVE = re.compile(
    r"^(?P<object>(?:The )?[\w’' -]{3,50}?) (?P<be>was|were) (?P<verb>written|directed|founded|designed|built|composed|"
    r"discovered|invented|created|produced|published|established|developed|painted|defeated|killed|led|conquered|"
    r"introduced|edited|translated|organized|attacked|captured|destroyed|sponsored|commissioned|proposed) by "
    r"(?P<subject>(?:the )?[A-Z][\w’'. -]{2,50}?)(?P<tail> (?:in|on) [\w ,]*\d{4})?\.$"
)
_PAST = {"written": "wrote"}


def apply_style(text: str, chance: Random) -> str:
    """Return a paraphrase with the same meaning.

    Each rule applies at random, so most sentences change little or not at all.
    """
    if chance.random() < 0.5:
        text = active(text)
    for rule, share in _RULES:
        if chance.random() < share:
            text = rule(text)
    if chance.random() < 0.8:
        text = _synonyms(text, chance)
    return text


def active(text: str) -> str:
    """Turn "X was founded by Y in 1990." into "Y founded X in 1990."; other sentences are returned unchanged."""
    match = _PASSIVE.match(text)
    if match is None or re.search(r"\b(?:and|who|which|that)\b", match["object"]):
        return text
    verb = _PAST.get(match["verb"], match["verb"])
    thing = match["object"]
    if thing.split()[0] in ("It", "He", "She", "They", "This", "These"):
        return text
    thing = "the" + thing[3:] if thing.startswith("The ") else thing
    subject = match["subject"]
    return f"{subject[0].upper()}{subject[1:]} {verb} {thing}{match['tail'] or ''}."


def _synonyms(text: str, chance: Random) -> str:
    fitting = [rule for rule in _SYNONYMS if rule[0].search(text)] if _ANY_SYNONYM.search(text) else []
    chance.shuffle(fitting)
    for pattern, new in fitting[:3]:
        text = pattern.sub(new, text, count=1)
    return text


def _contracted(text: str) -> str:
    for pattern, new in _CONTRACTIONS:
        text = pattern.sub(new, text)
    return text


def _expanded(text: str) -> str:
    for pattern, new in _EXPANSIONS:
        text = pattern.sub(new, text)
    return text


def _dates_turned(text: str) -> str:
    if _MONTH_DAY.search(text):
        return _MONTH_DAY.sub(lambda m: f"{m[2]} {m[1]}" + (f" {m[3]}" if m[3] else ""), text)
    return _DAY_MONTH.sub(lambda m: f"{m[2]} {m[1]}" + (f", {m[3]}" if m[3] else ""), text)


def _digits_as_words(text: str) -> str:
    return _SMALL.sub(lambda m: CARDINALS[int(m["digits"])], text)


def _words_as_digits(text: str) -> str:
    return _WORDS.sub(lambda m: str(CARDINALS.index(m["word"])), text)


def _ungrouped(text: str) -> str:
    return _GROUPED.sub(lambda m: m.group().replace(",", ""), text)


_RULES: tuple[tuple[Callable[[str], str], float], ...] = (
    (_contracted, 0.3),
    (_expanded, 0.5),
    (_dates_turned, 0.35),
    (_digits_as_words, 0.35),
    (_words_as_digits, 0.35),
    (_ungrouped, 0.2),
)
