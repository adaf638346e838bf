"""Generation of conversation turns: statements from a passage in a chatty style, and unsupported small talk."""

from __future__ import annotations

from random import Random

from evaluation.synthetic_claims.claim_drawing import DrawnClaim
from evaluation.synthetic_claims.corruptions import Contrast
from evaluation.synthetic_claims.edits import EditedClaim
from evaluation.synthetic_claims.shortening import lower_first_word
from evaluation.synthetic_claims.small_talk import joint, opener, small_talk, someone
from evaluation.synthetic_claims.source_text import Article

_WITH_OPENER = 0.5
_TALK_ALONE, _TALK_FIRST = 0.45, 0.3
_LOWER_CASE = 0.3
_OTHER_SUBJECT = 0.4
_MAX_TOPIC = 60  # characters; some titles are complete sentences


def reply(drawn: DrawnClaim, article: Article, chance: Random) -> Contrast:
    """Return the claim with or without an opener, and a version with added small talk, or small talk alone.

    The unsupported version may also attribute the statement to another person. A passage never contains what only the
    speaker can know, so an answer that includes it is not fully supported.
    """
    right = EditedClaim(drawn.text, ())
    swapped = _with_other_subject(drawn.text, article, chance)
    if swapped is not None and chance.random() < _OTHER_SUBJECT:
        return Contrast(right.text, swapped)
    if chance.random() < _WITH_OPENER:
        right = EditedClaim(lower_first_word(drawn.text, article.plain), ()).after(opener(chance) + " ")
    way = chance.random()
    talk = small_talk(_topic(drawn, article, chance), chance, idle=way < _TALK_ALONE)
    if way < _TALK_ALONE:
        wrong = EditedClaim(talk, ((0, len(talk)),))
    elif way < _TALK_ALONE + (1 - _TALK_ALONE) * _TALK_FIRST:
        wrong = EditedClaim(f"{talk} {right.text}", ((0, len(talk)),))
    else:
        between = joint(chance)
        new_sentence = between.strip() in (".", "!") or talk.startswith(("I ", "I'"))
        chat = talk if new_sentence else talk[0].lower() + talk[1:]
        before = right.text.removesuffix(".") + between
        wrong = EditedClaim(before + chat, ((len(before), len(before) + len(chat)),))
    # The marks stay valid only if lower case does not change the length.
    if chance.random() < _LOWER_CASE and len(wrong.text.lower()) == len(wrong.text):
        return Contrast(right.text.lower().removesuffix("."), EditedClaim(wrong.text.lower(), wrong.wrong))
    return Contrast(right.text, wrong)


def reply_window(drawn: DrawnClaim, article: Article, chance: Random) -> str:
    """Return the sentences that support the claim with few or none of their neighbours, as in a conversation turn."""
    low, high = min(drawn.needed), max(drawn.needed)
    around = chance.choice((0, 0, 0, 1, 1, 2, 4))
    before = chance.randint(0, around)
    kept = article.sentences[max(0, low - before) : high + 1 + around - before]
    text = " ".join(kept)
    named = article.title and (drawn.named or chance.random() < 0.15)
    return f"{article.title}\n{text}" if named and article.name not in text else text


def _with_other_subject(text: str, article: Article, chance: Random) -> EditedClaim | None:
    """Return the statement with a person of the conversation in place of the article's subject.

    None if the statement has another subject.
    """
    if not article.name or not text.startswith(f"{article.name} "):
        return None
    who = someone(chance)
    return EditedClaim(who + text[len(article.name) :], ((0, len(who)),))


def _topic(drawn: DrawnClaim, article: Article, chance: Random) -> str:
    if 0 < len(article.name) <= _MAX_TOPIC and chance.random() < 0.6:
        return article.name
    names = [name for name in article.names if name in drawn.text and len(name) <= _MAX_TOPIC]
    return chance.choice(names) if names else "that one"
