"""Recognises an answer that declines: "The documents do not say.", "I don't know.", "unknown". For any generator.

An answer refuses when it has a refusing sentence and nothing else that says something: "I don't know about X, but it
was Paris" answers, and so does "Unknown Pleasures".
"""

from __future__ import annotations

import re

from evaluation.language.normalise import fold

_DOCS = (
    r"(?:(?:the|these|those|this|any|provided|given|supplied|retrieved|available|above|following|my|of) )*"
    r"(?:documents?|passages?|context|texts?|articles?|sources?|chunks?|excerpts?|snippets?|information|materials?|"
    r"paragraphs?|content|corpus|collection)(?: (?:provided|given|above|supplied|available|here))?"
)
_NOT = r"(?:do|does|did)(?: not|n't)(?: (?:actually|explicitly|specifically|directly|clearly|seem to|appear to))*"
_SAY = r"(?:say|mention|answer|state|specify|tell|indicate|reveal|disclose|address|discuss|explain|clarify|describe)"
_HOLD = r"(?:contain|include|provide|give|have|offer|cover|hold|list|show)"
_INFO = (
    r"(?:(?:any|enough|sufficient|the|an|a|this|that|such|specific|relevant|further|necessary|required|needed|clear) )*"
    r"(?:information|info|answers?|details?|mention|data|evidence|context|indication|knowledge|idea)"
)
_STATED = r"(?:mentioned|stated|specified|disclosed|answered|discussed|indicated|addressed)"
_WEAK = r"(?:given|provided|available|known|included|covered|listed|found|described|clear|contained|present|there)"
_ADVERBS = r"(?:(?:explicitly|specifically|directly|clearly|currently|publicly|really|actually|yet) )*"
_CANNOT = (
    r"(?:can ?not|can't|could not|couldn't|(?:am|is|are|was|were) (?:not able|unable) to|"
    r"(?:isn't|aren't|wasn't|weren't) able to|unable to)"
)
_CANNOT_BE = r"(?:can ?not|can't|could not|couldn't) be"
_BASED = r"(?:based on|according to|from|given|in|on the basis of|using|judging by|considering)"
_FIND = r"(?:answer|determine|find|say|tell|provide|give|verify|confirm|locate|help|infer|establish|know)"
_ASKED = r"(?:it|this|that|the (?:answer|information|question|exact \w+))"

_REFUSING = tuple(
    re.compile(rf"^(?:{pattern})")
    for pattern in (
        r"(?:i|we) (?:do not|don't|did not|didn't|would not|wouldn't|really do not|really don't|honestly don't) know\b",
        r"(?:don't|do not) know\b(?! about)",
        r"(?:i|we) (?:have|'ve) no (?:idea|information|knowledge|answer|data|clue|way)\b",
        r"no (?:idea|clue)$",
        r"(?:i am|i'm|we are|we're) (?:not|un)(?: entirely| quite| really| at all)? ?"
        r"(?:sure|certain|aware|familiar)\b",
        rf"(?:i|we) (?:do not|don't) (?:currently )?have (?:access to )?{_INFO}\b",
        r"(?:i|we) (?:do not|don't) have access\b",
        rf"(?:(?:i|we) )?{_CANNOT} {_FIND}\b",
        rf"{_ASKED} {_CANNOT_BE} (?:\w+ )?(?:determined|answered|found|known|inferred|verified)\b",
        r"(?:can ?not|can't|could not) be (?:determined|answered|found|known|inferred|verified)\b",
        rf".{{0,80}}\b{_CANNOT_BE} (?:determined|answered|found|inferred) (?:from|based|using|with)\b",
        rf"(?:unfortunately,? )?{_DOCS} {_NOT} {_SAY}\b",
        rf"{_DOCS} {_NOT} {_HOLD} (?:{_INFO}\b|(?:it|this|that)$)",
        rf"{_DOCS} {_NOT} (?:contain|include|provide|give|list) (?:the|any|specific)\b",
        rf"{_DOCS} (?:is|are) (?:silent|insufficient|not (?:enough|sufficient|clear))\b",
        rf"(?:none|neither) {_DOCS} (?:\w+ )?(?:{_SAY}|{_HOLD})s?\b",
        rf"nothing in {_DOCS}",
        rf"no (?:document|passage|source|text|chunk|excerpt|article)s? (?:\w+ )?(?:{_SAY}|{_HOLD})s?\b",
        rf"(?:there(?:'s| is| are| was| were) )?(?:no|not enough|insufficient|not sufficient) {_INFO}\b"
        r"(?: (?:is|are|was|on|about|of|for|to|in|regarding|available|given|provided|found|here|from|that)\b|$)",
        rf"(?:{_ASKED} (?:is|was|are) |it's |that's )?not {_ADVERBS}(?:{_STATED}|{_WEAK})"
        r"(?: (?:in|by|from|anywhere|here|at|within) .*)?$",
        rf"{_ASKED} (?:is|was)(?: not|n't) {_ADVERBS}(?:{_STATED}|{_WEAK})\b",
        rf"(?:it|this|that)(?:'s| is) not (?:{_STATED}|known|clear)\b",
        rf".{{1,80}} (?:is|are|was|were|has been|have been)(?: not|n't| never) {_ADVERBS}{_STATED}"
        rf"(?: (?:in|by|from|within|anywhere in) {_DOCS}| here| anywhere)?$",
        rf".{{1,80}} (?:is|are|was|were)(?: not|n't) {_ADVERBS}{_WEAK} (?:in|by|from|within|anywhere in) {_DOCS}$",
        rf"(?:{_ASKED} (?:is|remains|was) |it's )(?:unknown|unclear|unspecified|unstated|undisclosed|unanswerable)\b",
        r"(?:unknown|unclear|unspecified|undisclosed|unanswerable|unanswered|n/a|none given|idk|dunno)$",
        r"(?:there(?:'s| is) )?no (?:known )?answer"
        r"(?: (?:is|was|can be|could be|found|given|available|provided|here|in)\b.*)?$",
        r"(?:hard|difficult|impossible) to (?:say|tell|know|determine)\b",
        r"(?:it is|it's) (?:hard|difficult|impossible|not possible) to (?:say|tell|know|determine|answer)\b",
        r"who knows$",
        r"no comment$",
        r"(?:i|we) (?:must|have to) (?:decline|abstain)\b",
        r"(?:i|we) (?:would|'d) (?:need|require) (?:more|further|additional) (?:information|context|details)\b",
        r"(?:i|we) (?:did not|didn't|could not|couldn't) find (?:any|an?|the|it|this|that|anything)\b",
        rf"(?:i|we) (?:see|saw|find|found|have) no (?:record|{_INFO})\b",
        rf"(?:i|we) (?:do not|don't|did not|didn't|{_CANNOT}) see (?:this|that|it|{_INFO})\b",
        rf"{_DOCS} (?:make|give|contain|provide|offer|ha(?:ve|s)|hold|include)s? no {_INFO}\b",
        rf"{_DOCS} lacks? {_INFO}\b",
        rf"(?:it|they) {_NOT} {_SAY}(?: (?:so|this|that|it|anything|who|whom|whose|what|when|where|why|how|whether|"
        r"which)\b.*)?$",
        rf"there(?:'s| is| was) nothing (?:about|on|regarding|concerning) .{{1,60}} (?:in|within) {_DOCS}$",
        rf"(?:the )?(?:answer|information|info|data|details?) (?:is |was |were |are )?not (?:{_STATED}|{_WEAK})"
        rf"(?: (?:in|from|within|by) {_DOCS})?$",
        rf"(?:{_ASKED} (?:is|was) |it's )?not (?:in|within|part of) {_DOCS}$",
        rf"{_ASKED} (?:isn't|wasn't) (?:in|within|part of) {_DOCS}$",
        rf"nothing (?:is|was) (?:{_STATED}|said|known|written) (?:about|on) .{{1,60}} (?:in|by) {_DOCS}$",
    )
)
_EMPTY = re.compile(
    r"^(?:(?:i am|i'm|we are|we're) (?:so |very |really )?sorry|sorry|apologies|my apologies|i apologi[sz]e|"
    r"unfortunately|"
    r"as an ai(?: language model)?|please (?:provide|check|consult|contact|ask|give|see|share|let|rephrase|try)\b.*|"
    r"(?:i|you) (?:can|could|may|might)(?: \w+)? (?:help|check|consult|contact|ask|try)\b.*|"
    r"let me know\b.*|feel free\b.*|"
    rf"{_BASED} (?:only )?{_DOCS}(?: alone)?|"
    r"to answer (?:this|that|the question)|to my knowledge|as far as i (?:know|can tell|can see)|at this time|"
    r"the answer|answer|well|hmm+|no|okay|ok)$"
)
_LEAD = re.compile(
    r"^(?:as an ai(?: language model)?|"
    r"sorry|unfortunately|regrettably|apologies|i'm sorry|i am sorry|i'm afraid(?: that)?|i am afraid(?: that)?|well|"
    r"hmm+|no|however|so|therefore|thus|and|but|answer|honestly|to my knowledge|as far as i (?:know|can tell|can see)|"
    rf"{_BASED} (?:only )?{_DOCS}(?: alone)?)"
    r"(?:, ?|: ?| but | |$)(?:but )?"
)
_SENTENCE = re.compile(r"(?<=[.!?])[\"')]*\s+|\n+|(?<!\s)\s*;\s*|(?<!\s)\s+-\s+|:\s+(?=\S)")
_TURN = re.compile(
    r",? (?:but|though|although|however|yet|nevertheless)[, ]+|"
    r", ?(?=(?:maybe|perhaps|probably|possibly|presumably|likely|i (?:think|believe|guess|suppose|would say)|"
    r"it (?:was|is|might|may|could|must)|that (?:is|was)|so|as|because|since|the answer)\b)|"
    r", (?=(?-i:[A-Z0-9]))",
    re.IGNORECASE,
)
_CONNECTED = re.compile(r"^(?:so|as|because|since|that|and|but|therefore|hence) ")


def is_refusal(text: str) -> bool:
    """Whether a whole answer declines and claims nothing. False for an empty text: it does not even decline."""
    refused = False
    folded = fold(text)
    # In capitals throughout, a capital after a comma tells nothing.
    for sentence in _SENTENCE.split(folded.lower() if folded.isupper() else folded):
        for part in _TURN.split(sentence):
            clause = _cleaned(part)
            if not clause or _EMPTY.match(clause):
                continue
            if _is_title(part):
                return False
            if not _refuses(clause):
                return False
            refused = True
    return refused


def _is_title(part: str) -> bool:
    """Whether a clause is written as a title is ("I Don't Know How to Love Him"): a name, not a refusal."""
    words = [w for w in re.findall(r"[^\W\d_][\w']*", part) if len(w) > 3]
    return len(words) >= 3 and not part.isupper() and all(w[0].isupper() for w in words)


def _cleaned(part: str) -> str:
    """Lower case, without marks at the ends."""
    return re.sub(r"\s+", " ", part).strip(" \t.,!?\"'()*-:;").casefold()


def _refuses(clause: str) -> bool:
    """Whether one clause declines, after what may lead into it ("sorry,", "based on the passages,") is taken off."""
    while True:
        if any(pattern.match(clause) for pattern in _REFUSING):
            return True
        shorter = _CONNECTED.sub("", _LEAD.sub("", clause, count=1), count=1)
        if shorter == clause or not shorter:
            return False
        clause = shorter
