"""Detect small talk (greetings, thanks, farewells, assent) and reply to it.

A message is small talk if it consists only of such phrases, whatever its length. "Hi there, good morning!" is small
talk; "Hi, what does ERR-4042 mean?" is a question after a greeting. Phrases are known in the languages below, and the
reply is in the language of the message.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

Kind = Literal["greeting", "thanks", "farewell", "assent"]


@dataclass(frozen=True, slots=True)
class _Language:
    """Phrases and replies of one language.

    phrases: pattern of the phrases of each kind, longest first, in case-folded text.
    fillers: pattern of words that may accompany them without a meaning of their own.
    replies: reply to each kind.
    """

    phrases: dict[Kind, str]
    fillers: str
    replies: dict[Kind, str]


_LANGUAGES: tuple[_Language, ...] = (
    _Language(
        {
            "greeting": r"good (?:morning|afternoon|evening|day)|hello+|hi+ya|hi+|hey+a?|howdy|greetings|"
            r"how(?: are|'re) (?:you|things|we)(?: doing| going| all)?(?: today)?|how(?: is|"
            r"'s) it going(?: today)?|"
            r"(?:it's |it is )?(?:nice|good|pleased|great) to (?:meet|see) you|what's up|sup|yo",
            "thanks": r"(?:many |much |a thousand |big )?(?:thanks|thank (?:you|u|ya))(?: (?:a lot|"
            r"a million|a bunch|"
            r"a ton|so much|very much|kindly|ever so much|again))*(?: (?:to you|for (?:(?:all|the|your|"
            r"this|that|these|"
            r"those|such|a|an|quick|fast|great|good|kind|clear|helpful|detailed|swift) ?)*(?:help|"
            r"helping(?: me)?|answers?|"
            r"info|information|reply|replies|response|explanation|explaining(?: (?:it|this|that))?|time|"
            r"support|"
            r"clarification|clarifying|work|details?|assistance|patience|it|this|that)(?: out)?))?|thx|"
            r"thanx|ty|cheers|tysm|"
            r"(?:i )?(?:really )?(?:much )?appreciated?(?: (?:it|that|this|your (?:help|time)|"
            r"the help))?|much obliged|"
            r"(?:that|this|it|you)(?: was|'s| is|'re| are|'ve been| have been| has been)? (?:really |"
            r"very |so |super |"
            r"most |extremely |a great |a |such a |of great |all |everything |exactly )*(?:helpful|"
            r"useful|helped"
            r"(?: me)?(?: a lot| out)?|great|perfect|excellent|amazing|wonderful|awesome|brilliant|"
            r"clear|kind|help|"
            r"good to know|(?:i|what i) (?:needed|wanted)(?: to know)?)",
            "farewell": r"good ?bye|bye+(?: bye)?|bye-bye|farewell|see (?:you|ya)(?: (?:later|soon|"
            r"tomorrow|around))?|"
            r"(?:talk|speak) to you (?:later|soon)|take care|good night|so long|ciao|cya|"
            r"have (?:a|an) (?:\w+ )?(?:day|evening|night|weekend|one|time)(?: ahead)?|"
            r"that(?:'s| is| was| will be|'ll be) (?:all|it|everything)(?: for (?:now|today))?",
            "assent": r"ok(?:ay|ey|ie)?|k|kk|alright|all right|sure(?: thing)?|yes+|yep|yeah|yup|no+|"
            r"nope|nah|right|fine|"
            r"good|great|cool|nice|perfect|awesome|excellent|wonderful|super|brilliant|fantastic|"
            r"amazing|lovely|"
            r"got it|i see|i understand|understood|makes sense|that makes sense|noted|sounds good|very well|"
            r"good to know|interesting|wow|lol|haha+|never ?mind|no (?:problem|worries)|you're welcome|"
            r"(?:well|good|nice|great) (?:done|job|work)|good (?:bot|one)",
        },
        r"to (?:you|all|everyone)|so|very|much|really|a lot|again|everyone|everybody|all|there|folks|"
        r"team|mate|buddy|friend|sir|madam|bot|"
        r"assistant|plumbline|you|and|then|now|just|oh|ah|well|please|too|dear|my|today|for now|indeed",
        {
            "greeting": "Hello! What would you like to know?",
            "thanks": "You're welcome.",
            "farewell": "Goodbye.",
            "assent": "All right. Is there anything else you would like to know?",
        },
    ),
    _Language(
        {
            "greeting": r"guten (?:morgen|tag|abend)|gr(?:ü|ue)(?:ß|ss) (?:gott|dich|euch|sie)|hallo+|"
            r"servus|moin(?: moin)?|"
            r"wie geht(?:'s| es)(?: dir| ihnen| euch)?",
            "thanks": r"(?:(?:vielen|besten|herzlichen|lieben|tausend) dank|danke(?: (?:sehr|sch(?:ö|"
            r"oe)n|vielmals|dir|"
            r"ihnen))*)(?: f(?:ü|ue)r (?:die|deine|ihre|das) \w+)?|(?:das |es )?(?:war|"
            r"ist) (?:sehr )?(?:hilfreich|nett)",
            "farewell": r"auf wiedersehen|tsch(?:ü|ue)(?:ß|ss)i?|bis (?:bald|sp(?:ä|ae)ter|morgen|dann)|"
            r"gute nacht|"
            r"sch(?:ö|oe)nen tag(?: noch)?",
            "assent": r"alles klar|verstanden|in ordnung|genau|ja|nein|gut|prima|toll|klasse|perfekt|super",
        },
        r"sehr|und|zusammen|auch|noch|so|dann|na|ach|an alle|ihnen|dir",
        {
            "greeting": "Hallo! Was möchten Sie wissen?",
            "thanks": "Gern geschehen.",
            "farewell": "Auf Wiedersehen.",
            "assent": "Gut. Möchten Sie noch etwas wissen?",
        },
    ),
    _Language(
        {
            "greeting": r"bonjour|bonsoir|salut|coucou|comment (?:ça|ca) va|(?:ça|ca) va|comment allez[- ]vous",
            "thanks": r"(?:merci|mille mercis)(?: (?:beaucoup|bien|infiniment|encore|à vous|a vous|à toi))*"
            r"(?: pour (?:votre|ton|ta|l'|la|le|les|vos) ?\w+)?|je vous remercie|je te remercie",
            "farewell": r"au revoir|à (?:bientôt|plus(?: tard)?|demain)|a bient[oô]t|bonne (?:journée|"
            r"soirée|nuit)|adieu",
            "assent": r"d'accord|oui|non|très bien|tres bien|parfait|entendu|compris|génial|super",
        },
        r"et|à tous|a tous|tout le monde|bien|donc|alors|monsieur|madame",
        {
            "greeting": "Bonjour ! Que souhaitez-vous savoir ?",
            "thanks": "Je vous en prie.",
            "farewell": "Au revoir.",
            "assent": "Très bien. Souhaitez-vous savoir autre chose ?",
        },
    ),
    _Language(
        {
            "greeting": r"hola|buen(?:os)? d[ií]as?|buenas(?: (?:tardes|noches))?|qu[eé] tal|c[oó]mo est[aá]s?",
            "thanks": r"(?:muchas |muchísimas |mil )?gracias(?: por (?:tu|su|la|el|todo) ?\w*)?|"
            r"(?:te|se) lo agradezco",
            "farewell": r"adi[oó]s|hasta (?:luego|pronto|mañana|la vista)|nos vemos|chao",
            "assent": r"de acuerdo|vale|s[ií]|entendido|perfecto|muy bien|genial|está bien",
        },
        r"y|a todos|muy|pues|señor|señora|de nuevo",
        {
            "greeting": "¡Hola! ¿Qué desea saber?",
            "thanks": "De nada.",
            "farewell": "Adiós.",
            "assent": "De acuerdo. ¿Desea saber algo más?",
        },
    ),
    _Language(
        {
            "greeting": r"buongiorno|buonasera|salve|ciao a tutti|come (?:va|stai|sta)",
            "thanks": r"(?:grazie|mille grazie)(?: (?:mille|tante|ancora))*(?: per (?:l'|la|il|tutto) ?\w*)?|"
            r"ti ringrazio",
            "farewell": r"arrivederci|a presto|a domani|buona (?:giornata|serata|notte)",
            "assent": r"va bene|d'accordo|capito|perfetto|benissimo|certo",
        },
        r"e|molto|a tutti|signore|signora",
        {
            "greeting": "Buongiorno! Che cosa desidera sapere?",
            "thanks": "Prego.",
            "farewell": "Arrivederci.",
            "assent": "Va bene. Desidera sapere altro?",
        },
    ),
    _Language(
        {
            "greeting": r"olá|oi|bom dia|boa (?:tarde|noite)|tudo bem",
            "thanks": r"(?:muito )?obrigad[oa](?: (?:por|pela|pelo) \w+)?|valeu|agradeço",
            "farewell": r"tchau|até (?:logo|breve|amanhã|mais)",
            "assent": r"está bem|tá bom|certo|entendi|perfeito|sim|não",
        },
        r"e|muito|a todos",
        {
            "greeting": "Olá! O que deseja saber?",
            "thanks": "De nada.",
            "farewell": "Até logo.",
            "assent": "Está bem. Deseja saber mais alguma coisa?",
        },
    ),
    _Language(
        {
            "greeting": r"goede(?:morgen|middag|navond)|hoi|dag|hoe gaat het(?: met (?:je|u))?",
            "thanks": r"(?:heel erg |hartelijk |veel )?(?:bedankt|dank (?:je|u)(?: wel)?|dankjewel|dankuwel)"
            r"(?: voor (?:je|de|uw|het) \w+)?",
            "farewell": r"tot (?:ziens|straks|morgen)|doei|fijne (?:dag|avond)",
            "assent": r"prima|goed|begrepen|in orde|akkoord|ja|nee",
        },
        r"en|allemaal|zeer|dan",
        {
            "greeting": "Hallo! Wat wilt u weten?",
            "thanks": "Graag gedaan.",
            "farewell": "Tot ziens.",
            "assent": "Goed. Wilt u nog iets weten?",
        },
    ),
)
_ORDER: tuple[Kind, ...] = ("thanks", "farewell", "greeting", "assent")
"""Kinds by priority in a mixed message: "Great, thanks, bye" is answered as thanks."""
_LONGEST = 1000
"""Maximum characters of a message that is examined."""
_MOST_OPENINGS = 4
_APOSTROPHES = str.maketrans("\u2019\u2018\u02bc\u00b4`", "'''''")
_GAP = r"[\s,.!?;:()\u00a1\u00bf\u2026\u2013\u2014\-]*"


def small_talk_reply(text: str) -> str:
    """Return the reply to small talk; empty for a question or statement."""
    if len(text) > _LONGEST:
        return ""
    plain = _plain(text)
    if not _has_words(plain):
        signs = any(unicodedata.category(c) == "So" for c in text)  # for example a thumbs-up or a heart
        return _LANGUAGES[0].replies["assent"] if signs and not plain.strip(".! ") else ""
    for language, matcher, kinds in _MATCHERS:
        if matcher.fullmatch(plain) is None:
            continue
        for kind in _ORDER:
            if kinds[kind].search(plain) is not None:
                return language.replies[kind]
    return ""


def after_small_talk(text: str) -> str:
    """Return the text without leading greetings, thanks or assent that end with punctuation or a line break.

    Returns the text unchanged if it starts with none, or if nothing would remain.
    """
    rest = text
    for _ in range(_MOST_OPENINGS):
        opened = _OPENING.match(rest)
        if opened is None or not small_talk_reply(opened[0]) or not _has_words(rest[opened.end() :]):
            break
        rest = rest[opened.end() :]
    return rest


def _has_words(text: str) -> bool:
    return any(c.isalnum() for c in text)


_OPENING = re.compile(r"\s*[^,.!?;:\n\u2014\u2013]{1,80}(?:[,.!?;:\u2014\u2013]+\s+|\n\s*)")


def _plain(text: str) -> str:
    """Return the text case-folded, without emoji and other symbols."""
    folded = unicodedata.normalize("NFC", text).translate(_APOSTROPHES).casefold()
    words = "".join(" " if unicodedata.category(c) in ("So", "Sk", "Cf", "Cn", "Mn") else c for c in folded)
    return re.sub(r":-?[)d(p]|<3|\^\^", " ", words).strip()


def _matchers(language: _Language) -> tuple[_Language, re.Pattern[str], dict[Kind, re.Pattern[str]]]:
    folded = {kind: _folded(phrase) for kind, phrase in language.phrases.items()}
    # A phrase and an optional gap. \b and (?!\w) prevent matches inside a word.
    anything = "|".join(rf"\b(?:{phrase})(?!\w)" for phrase in (*folded.values(), _folded(language.fillers)))
    kinds = {kind: re.compile(rf"\b(?:{phrase})(?!\w)") for kind, phrase in folded.items()}
    return language, re.compile(rf"{_GAP}(?:(?:{anything}){_GAP})+"), kinds


def _folded(pattern: str) -> str:
    return unicodedata.normalize("NFC", pattern).replace("ß", "ss")  # as case folding produces it


_MATCHERS = tuple(_matchers(language) for language in _LANGUAGES)
