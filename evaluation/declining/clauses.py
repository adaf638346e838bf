"""Detection of refusals in languages other than English by combinations of ``lexicon`` word classes within one clause.

A clause declines if it says that the documents do not say, that there is no information, or that the speaker does not
know or cannot answer. Negation alone is not enough: "Batteries are not covered" is a statement about the world.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from evaluation.declining import lexicon as west
from evaluation.declining import lexicon_asia as asia
from evaluation.declining import lexicon_europe as europe
from evaluation.declining.lexicon import Lexicon
from evaluation.language.normalise import fold

_STEMMED = (
    *(west.SPANISH, west.FRENCH, west.PORTUGUESE, west.ITALIAN, west.GERMAN, west.DUTCH, west.INDONESIAN),
    *(west.RUSSIAN, west.UKRAINIAN, europe.POLISH, europe.CZECH, europe.SCANDINAVIAN, europe.HUNGARIAN),
    *(europe.FINNISH, europe.ROMANIAN, europe.GREEK, europe.TURKISH, europe.VIETNAMESE),
    *(asia.ARABIC, asia.PERSIAN_URDU, asia.HEBREW),
)
_SUBSTRINGS = (asia.HINDI, asia.BENGALI, asia.CHINESE, asia.JAPANESE, asia.KOREAN, asia.THAI)
_ENDS = re.compile(r"[.!?;:](?=\s|$|[\"'”»）)])|[。！？；：।॥؟؛…\n]+")
_COMMAS = re.compile(r"[,،、，]|\s[-–—]\s")
_EDGES = " \t\r\n.,!?\"'()*-:;«»„“”‘’[]_`。！？；，、।"
_PRONOUN = re.compile(
    r"\b(?:es[oa]|est[oea]|cel[ao]|isso|isto|ci[oò]|quest[oa]|das|dies\w*|dit|dat|ini|itu|это\w*|этого|об этом|to|tego|"
    r"det|ezt|sitä|asta|bunu|هذا|ذلك|اس|این|یہ)\b|यह|इस|এটি|এ বিষয়|这|這|此|これ|それ|이|นี้"
)
_BECAUSE = re.compile(
    r"(?:weil|denn|parce que|car|porque|pois|poiche|perche|omdat|want|потому|так как|поскольку|poniewaz|bo|protoze|"
    r"fordi|eftersom|karena|mert|koska|لأن|کیونکہ|چون|因为|因為|क्योंकि|কারণ|왜냐하면)(?!\w)"
)
_IMPOSSIBLE = (
    "|impossi|imposib|incapa|unmogl|onmogel|невозможно|неможливо|omojlig|umulig|mahdoton|lehetetlen|niemozliw|تعذر|"
    "يتعذر|غير قادر|असमर्थ|असंभव|অক্ষম|불가|无法|無法"
)
_NO_MATCH = "(?!)"
_MAX_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class _Patterns:
    doc: re.Pattern[str]
    info: re.Pattern[str]
    say: re.Pattern[str]
    negation: re.Pattern[str]
    unknowing: re.Pattern[str]
    lacking: re.Pattern[str]
    cannot: re.Pattern[str]
    answering: re.Pattern[str]
    alone: re.Pattern[str]
    empty: re.Pattern[str]
    subordinate: re.Pattern[str]
    but: re.Pattern[str]
    unwilling: re.Pattern[str]
    giving: re.Pattern[str]
    speaker: re.Pattern[str]
    topic: re.Pattern[str]


def declines_in_other_language(text: str) -> bool:
    """Return whether a complete text declines in a language other than English.

    False for an empty text and for answers.
    """
    if len(text) > _MAX_CHARACTERS:
        return False
    return any(_declines(text, lexicon) for lexicon in _LEXICONS if _may_decline(text, lexicon))


def _may_decline(text: str, lexicon: _Patterns) -> bool:
    """Return whether some clause of the text might decline. This is a fast necessary condition."""
    return any(
        lexicon.negation.search(t)
        or lexicon.alone.search(t)
        or lexicon.unknowing.search(t)
        or lexicon.unwilling.search(t)
        for t in _forms(text)
    )


def _declines(text: str, lexicon: _Patterns) -> bool:
    refused = False
    for sentence in _ENDS.split(text):
        if not _has_content(sentence):
            continue
        if _clause_declines(sentence, lexicon) and not any(_answers(part, lexicon) for part in _COMMAS.split(sentence)):
            refused = True
            continue
        for part in (p for half in lexicon.but.split(sentence) for p in _COMMAS.split(half)):
            if not _has_content(part) or _fully(lexicon.empty, part):
                continue
            if _clause_declines(part, lexicon):
                refused = True
            elif not (refused and _begins(lexicon.subordinate, part)):
                return False
    return refused


def _answers(part: str, lexicon: _Patterns) -> bool:
    """Return whether a clause that accompanies a refusal makes its own statement."""
    if not _has_content(part) or _clause_declines(part, lexicon) or _fully(lexicon.empty, part):
        return False
    return not _begins(lexicon.subordinate, part) and (
        _finds(lexicon.but, part) or _begins(_BECAUSE, part) or any(map(str.isdigit, part))
    )


def _clause_declines(clause: str, lexicon: _Patterns) -> bool:
    if _finds(lexicon.but, clause):
        return False
    if _fully(lexicon.alone, clause):
        return True
    if _finds(lexicon.unknowing, clause):
        return True
    negated = _finds(lexicon.negation, clause)
    document, information = _finds(lexicon.doc, clause), _finds(lexicon.info, clause)
    if document and negated:
        about = information or bool(_PRONOUN.search(clause))
        mentions = _finds(lexicon.say, clause)
        if mentions and (about or not _only_contains(clause, lexicon)):
            return True
        if information and _finds(lexicon.lacking, clause):
            return True
    if information and negated and _finds(lexicon.lacking, clause) and not document and _are_close(clause, lexicon):
        return True
    if _finds(lexicon.unwilling, clause) and (_finds(lexicon.answering, clause) or information):
        return True
    if not negated:
        return False
    if _finds(_NOTHING, clause) and _finds(lexicon.topic, clause):
        says = _finds(lexicon.say, clause) or _finds(lexicon.answering, clause)
        return says or _finds(lexicon.lacking, clause)
    gives = information and _finds(lexicon.giving, clause)
    if document and gives:
        return True
    if not _finds(lexicon.cannot, clause):
        return False
    speaks = _finds(lexicon.speaker, clause)
    return (gives and speaks) or (
        _finds(lexicon.answering, clause) and (speaks or document or _finds(lexicon.topic, clause))
    )


_NOTHING = re.compile(r"\b(?:nichts|rien|nada|niente|nulla|niets|bir sey|hicbir sey|hiçbir şey|bir şey)\b")
_CONTAINS = re.compile(
    r"conten|contien|contem|inclu|proporcion|ofrec|aporta|fourni|fornec|fornisc|apresent|compren|contém|enthalt|"
    r"bevat|содерж|zawier|obsah|innehall|inneholder|indeholder|tartalmaz|sisalla|"
    r"περιεχ|icer|يحتو|تحتو|يتضمن|شامل|מכיל|כולל|شामिल|包含|包括|含ま|포함|memuat|mengandung",
    re.IGNORECASE,
)


def _only_contains(clause: str, lexicon: _Patterns) -> bool:
    """Return whether the verb is one of containing, which applies to things as well as to texts."""
    found = [m.group() for form in _forms(clause) for m in lexicon.say.finditer(form)]
    return bool(found) and all(_CONTAINS.search(word) for word in found)


def _are_close(clause: str, lexicon: _Patterns) -> bool:
    """Return whether it is the information that is missing: only a few words are between the two."""
    for form in _forms(clause):
        for info in lexicon.info.finditer(form):
            for lacking in lexicon.lacking.finditer(form):
                between = form[min(info.end(), lacking.end()) : max(info.start(), lacking.start())]
                if len(between.split()) <= 4 and len(between) <= 40:
                    return True
    return False


def _has_content(text: str) -> bool:
    return any(c.isalnum() for c in text)


def _forms(text: str) -> tuple[str, ...]:
    """Return the text with and without accents, in lower case, without punctuation at its ends."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").replace("\u200c", " ").casefold().strip(_EDGES)
    bare = fold(plain).strip(_EDGES)
    return (plain,) if plain == bare else (plain, bare)


def _finds(pattern: re.Pattern[str], text: str) -> bool:
    return any(pattern.search(form) for form in _forms(text))


def _fully(pattern: re.Pattern[str], text: str) -> bool:
    return any(pattern.fullmatch(form) for form in _forms(text))


def _begins(pattern: re.Pattern[str], text: str) -> bool:
    return any(pattern.match(form) for form in _forms(text))


def _compiled(lexicon: Lexicon, stems: bool) -> _Patterns:
    def of(alternatives: str, full_match: bool = False) -> re.Pattern[str]:
        if full_match or not stems:
            return re.compile(f"(?:{alternatives})")
        return re.compile(rf"\b(?:{alternatives})\w*")

    return _Patterns(
        of(lexicon.doc if not _written_together(lexicon) else rf"\w*(?:{lexicon.doc})"),
        of(lexicon.info if not _written_together(lexicon) else rf"\w*(?:{lexicon.info})"),
        of(lexicon.say if not _written_together(lexicon) else rf"\w*(?:{lexicon.say})"),
        of(lexicon.negation + _IMPOSSIBLE),
        of(lexicon.unknowing),
        of(lexicon.lacking),
        of(lexicon.cannot),
        of(lexicon.answering if not _written_together(lexicon) else rf"\w*(?:{lexicon.answering})"),
        of(lexicon.alone, full_match=True),
        of(lexicon.empty, full_match=True),
        of(lexicon.subordinate),
        re.compile(rf"\b(?:{lexicon.but})\b" if stems else f"(?:{lexicon.but})"),
        of(lexicon.unwilling or _NO_MATCH),
        of(lexicon.giving or _NO_MATCH),
        of(lexicon.speaker),  # An empty pattern matches: without a word list, any clause may be the speaker's.
        of(lexicon.topic or _NO_MATCH),
    )


def _written_together(lexicon: Lexicon) -> bool:
    """Return whether words of this language are written together or begin with an article or prefix."""
    return lexicon in (
        *(west.GERMAN, west.DUTCH, west.ITALIAN, west.FRENCH, europe.SCANDINAVIAN, europe.HUNGARIAN, europe.FINNISH),
        *(asia.ARABIC, asia.PERSIAN_URDU, asia.HEBREW),
    )


_LEXICONS = (*(_compiled(x, True) for x in _STEMMED), *(_compiled(x, False) for x in _SUBSTRINGS))
