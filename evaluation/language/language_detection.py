"""Detect languages other than English by script and stop words.

Texts with too little evidence, such as names and numbers, are not assigned to a language.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from evaluation.language.short_texts import short_language
from model.english import word_set

_WORDS = {
    "English": (
        "the of and to in is that it for was on are with as at be this have from by not or an were which you "
        "has had but they their its his her can will would there been if when who more no than three two four "
        "five years does after i a do did what where how who"
    ),
    "German": (
        "der die das und ist nicht ein eine einer einem den dem des mit von zu im auf für sich auch als an es "
        "bei nach wird wurde sind war haben hat oder aber wie aus zum zur über kein keine drei zwei vier fünf "
        "jahre"
    ),
    "French": (
        "le la les des un une et est dans du en que qui pour pas sur au aux avec ce cette sont par il elle "
        "nous vous ne se ou mais été plus était ont trois deux quatre cinq ans leur"
    ),
    "Spanish": (
        "el la los las de un una y es en que del por para con no se su al lo como más pero sus le ha fue son "
        "está entre cuando muy sin sobre también tres dos cuatro cinco años"
    ),
    "Portuguese": (
        "o a os as de um uma e é em que do da dos das por para com não se na no ao como mais mas foi são está "
        "pelo pela ou quando muito também três dois quatro cinco anos"
    ),
    "Italian": (
        "il lo la gli le di un una e è in che del della dei per con non si da al come più ma sono anche nel "
        "nella alla dal questo quando molto tre due quattro cinque anni dura"
    ),
    "Dutch": (
        "de het een en van is in dat op te zijn met voor niet aan er om ook als bij uit door naar maar dan "
        "nog wordt werd heeft drie twee vier vijf jaar"
    ),
    "Polish": (
        "i w na z do nie się jest że to od przez dla po jak o oraz przy są był była lub ale które który trzy "
        "dwa lata lat"
    ),
    "Swedish": (
        "och i att det som en på är av för med den till inte om ett har de från men var kan eller tre två fyra år"
    ),
    "Danish": ("og i at det som en på er af for med den til ikke om et har de fra men var kan eller tre to fire år"),
    "Turkish": ("ve bir bu için ile da de değil olarak çok daha gibi kadar olan ancak veya üç iki yıl"),
    "Indonesian": (
        "yang dan di ini itu dengan untuk tidak dari dalam pada adalah ke oleh juga akan atau tiga dua tahun"
    ),
    "Vietnamese": ("là và của có không được trong cho với các một những này người khi năm ba hai"),
    "Romanian": ("și în de la cu un o este nu pe care din sunt pentru mai sau dar ca trei doi ani"),
    "Czech": ("a v na je se že to z do pro s ne by jako jsou ale nebo byl tři dva roky let"),
    "Finnish": ("ja on ei se että oli ovat joka kun jos mutta myös tai kuin vain ole voi sekä noin kolme kaksi vuotta"),
    "Hungarian": ("a az és nem egy hogy is van volt meg ez de csak mint vagy három két év"),
}
_SETS = {language: word_set(words) for language, words in _WORDS.items()}
_LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_ADDRESS = re.compile(r"\S*(?:@|://|www\.)\S*")
_LEAST_WORDS = 4
_LEAST_LETTERS = 2
_MOST_CHARACTERS = 4000
_SCRIPTS = {
    "CJK": "Chinese or Japanese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CYRILLIC": "a language in Cyrillic script",
    "ARABIC": "a language in Arabic script",
    "DEVANAGARI": "a language in Devanagari script",
    "BENGALI": "Bengali",
    "THAI": "Thai",
    "HEBREW": "Hebrew",
    "GREEK": "Greek",
}


@lru_cache(maxsize=4096)
def other_language(text: str) -> str:
    """Return the name of a text's language if it is certainly not English; "" for English and uncertain texts."""
    text = text[:_MOST_CHARACTERS]
    letters = [c for c in text if c.isalpha()]
    if len(letters) < _LEAST_LETTERS:
        return ""
    latin = sum("LATIN" in unicodedata.name(c, "") for c in letters)
    if latin < len(letters) / 2:
        names = Counter(unicodedata.name(c, "OTHER").split()[0] for c in letters)
        if names["HIRAGANA"] + names["KATAKANA"]:
            return _SCRIPTS["HIRAGANA"]
        script = names.most_common(1)[0][0]
        return _SCRIPTS.get(script, f"a language in {script.capitalize()} script")
    written = [_without_article(word) for word in _LETTERS.findall(_ADDRESS.sub(" ", text.replace("’", "'")))]
    words = [word.casefold() for word in written]
    if len(words) < _LEAST_WORDS:
        return short_language(written)
    scores = {language: sum(w in known for w in words) for language, known in _SETS.items()}
    english = scores.pop("English")
    language, best = max(scores.items(), key=lambda pair: pair[1])
    if best >= 2 and best > 1.5 * english and not (best == 2 and _is_title(written, _SETS[language])):
        return language
    return short_language(written)


def _without_article(word: str) -> str:
    """Return a word without an elided article (``l'usine``, ``dell'acqua``)."""
    before, _, after = word.partition("'")
    return (
        after if after and (len(before) <= 2 or before.casefold() in ("jusqu", "dell", "nell", "all", "sull")) else word
    )


def _is_title(words: Sequence[str], known: frozenset[str]) -> bool:
    """Return whether all words except stop words are capitalised, as in a name or title."""
    return all(word[0].isupper() or word.casefold() in known for word in words)
