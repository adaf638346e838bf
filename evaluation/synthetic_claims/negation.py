"""Addition of a negation to a sentence, and its removal."""

from __future__ import annotations

import re
from dataclasses import dataclass

from model.english import word_list

_AUXILIARY = re.compile(
    r"\b(?P<aux>is|are|was|were|can|could|will|would|should|must|(?:has|have|had)(?= (?:been|become|"
    r"\w+ed)\b))\b(?! not\b|n['’]t)"
)
_NEGATED = re.compile(
    r"\b(?P<aux>is|are|was|were|can|could|will|would|should|must|do|does|did|has|have|had)(?: not\b|n['’]t\b)(?! "
    r"only| just| merely| necessarily| until| even)"
    r" ?(?P<verb>\w+)?|\b(?P<cannot>cannot|can['’]t) (?P<rest>\w+)"
)
_CLAUSE = re.compile(
    r"\b(?:which|that|who|whom|whose|where|when|while|if|because|although|though|unless|until|as|whether|what|how|"
    r"why)\b|[;:\"()]"
)
_VAGUE = re.compile(
    r"\b(?:some|many|most|often|sometimes|usually|generally|typically|several|few|may|might|mainly|primarily|partly|"
    r"only|no|not|never|nor|neither|either|both|each|every|all|any|n['’]t|cannot|without|hardly|rarely|seldom|"
    r"also|more)\b",
    re.IGNORECASE,
)
# Past and third-person forms to the base form that follows "did not" and "does not".
_BASE = {
    past: base
    for pair in word_list(
        "won=win lost=lose wrote=write began=begin became=become took=take gave=give made=make led=lead held=hold "
        "left=leave went=go came=come saw=see sold=sell bought=buy built=build brought=bring taught=teach "
        "thought=think found=find fought=fight met=meet kept=keep grew=grow rose=rise fell=fall ran=run sang=sing "
        "spent=spend stood=stand sent=send paid=pay drew=draw drove=drive ate=eat felt=feel got=get knew=know "
        "lay=lie spoke=speak told=tell wore=wear published=publish founded=found established=establish moved=move "
        "received=receive married=marry died=die released=release produced=produce directed=direct played=play "
        "joined=join worked=work lived=live served=serve studied=study attended=attend visited=visit "
        "returned=return started=start opened=open closed=close created=create developed=develop "
        "introduced=introduce invented=invent discovered=discover designed=design defeated=defeat "
        "conquered=conquer invaded=invade attacked=attack captured=capture destroyed=destroy signed=sign "
        "announced=announce declared=declare proposed=propose supported=support opposed=oppose rejected=reject "
        "accepted=accept adopted=adopt passed=pass reached=reach remained=remain appeared=appear "
        "performed=perform recorded=record completed=complete launched=launch landed=land arrived=arrive "
        "occurred=occur happened=happen ended=end included=include contained=contain covered=cover "
        "required=require allowed=allow caused=cause formed=form followed=follow succeeded=succeed "
        "replaced=replace elected=elect appointed=appoint resigned=resign refused=refuse agreed=agree "
        "believed=believe argued=argue described=describe called=call named=name earned=earn awarded=award "
        "painted=paint composed=compose translated=translate edited=edit influenced=influence inspired=inspire "
        "expanded=expand contains=contain includes=include has=have consists=consist requires=require "
        "produces=produce provides=provide allows=allow causes=cause occurs=occur describes=describe "
        "appears=appear remains=remain belongs=belong suggests=suggest represents=represent depends=depend "
        "exists=exist grows=grow becomes=become"
    )
    for past, base in (pair.split("="),)
}
_VERB = re.compile(r"(?<![\w’'-])(?:" + "|".join(_BASE) + r")(?![\w’'-])")
_NOUN_BEFORE = re.compile(
    r"\b(?:the|a|an|of|its|his|her|their|this|these|in|was|were|is|are|be|been|has|have|had|and|to|newly) $",
    re.IGNORECASE,
)
_PASTS = {base: past for past, base in _BASE.items() if not past.endswith("s") or past in ("was",)}


@dataclass(frozen=True, slots=True)
class NegatedSentence:
    """A sentence with a negation added or removed.

    start, end: span of its verb phrase. scope: offset at which the predicate begins, to which the negation applies.
    """

    text: str
    start: int
    end: int
    scope: int


def listed_verbs() -> tuple[str, ...]:
    """Return the past and third-person forms that ``base_form`` knows."""
    return tuple(_BASE)


def base_form(verb: str) -> str | None:
    """Return "write" for "wrote" and "writes"; None for a verb that is not listed."""
    return _BASE.get(verb)


def negate(text: str, contracted: bool = False) -> NegatedSentence | None:
    """Negate the main clause: "was born" becomes "was not born", "wrote" becomes "did not write".

    contracted: whether to write "wasn't" for "was not". Returns None if the sentence is negated already, if it contains
    "some", "most" or "often" (its negation may be true as well), or if its main verb is not found.
    """
    auxiliary, verb = _AUXILIARY.search(text), _verb(text)
    if auxiliary is not None and (verb is None or auxiliary.start() <= verb.start()):
        where, first = auxiliary.start(), auxiliary
    elif verb is not None:
        where, first = verb.start(), verb
        if auxiliary is not None and not re.search(r"[,;]| and | that ", text[verb.end() : auxiliary.start()]):
            return None  # "the book published in 1990 was ...": a participle, not the main verb
    else:
        return None
    clause = text[first.end() :].split(",")[0]
    if _CLAUSE.search(text[:where]) or _VAGUE.search(text[:where] + first.group() + clause) or "," in text[:where]:
        return None
    if where == 0:
        return None
    rest = text[first.end() :]
    if first is auxiliary:
        phrase = _not(first.group(), contracted)
        word = re.match(r" \w+", rest)
        end = where + len(phrase)
        return NegatedSentence(text[:where] + phrase + rest, where, end + (len(word.group()) if word else 0), end)
    past = first.group()
    phrase = f"{_not('does' if past.endswith('s') else 'did', contracted)} {_BASE[past]}"
    return NegatedSentence(text[:where] + phrase + rest, where, where + len(phrase), where + len(phrase))


def _not(auxiliary: str, contracted: bool) -> str:
    if auxiliary == "can":
        return "can't" if contracted else "cannot"
    if contracted:
        return "won't" if auxiliary == "will" else f"{auxiliary}n't"
    return f"{auxiliary} not"


def remove_negation(text: str) -> NegatedSentence | None:
    """Remove the first negation: "was not born" becomes "was born". None if there is none."""
    match = _NEGATED.search(text)
    if match is None:
        return None
    if match["cannot"]:
        new = f"can {match['rest']}"
    else:
        aux, verb = match["aux"], match["verb"] or ""
        if aux in ("do", "does", "did") and verb:
            inflected = _inflected(verb, aux)
            if inflected is None:
                return None
            new = inflected
        else:
            new = f"{aux} {verb}".rstrip()
    start = match.start()
    return NegatedSentence(text[:start] + new + text[match.end() :], start, start + len(new), start + len(new))


def _verb(text: str) -> re.Match[str] | None:
    for match in _VERB.finditer(text):
        if not _NOUN_BEFORE.search(text[: match.start()]) and match.start():
            return match
    return None


def _inflected(base: str, aux: str) -> str | None:
    if aux == "do":
        return base
    if aux == "did":
        return _PASTS.get(base)
    if base == "have":
        return "has"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "o")) else "s") if not base.endswith("y") else None
