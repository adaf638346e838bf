"""Detection of English refusals: "The documents do not say.", "I don't know.", "unknown".

A text declines if one of its sentences declines and no other sentence makes a statement: "I don't know about X, but it
was Paris" is an answer, and so is "Unknown Pleasures". A sentence declines by what it says about the documents or the
speaker's knowledge. A negative statement about the world ("It is not covered", "We cannot give refunds") never
declines.
"""

from __future__ import annotations

import re

from evaluation.declining.english_words import (
    ADVERBS,
    AS_A_TOOL,
    ASKED,
    BASED,
    CANNOT,
    CANNOT_BE,
    DOCS,
    HOLD,
    INFO,
    LOCATED,
    NO_INFO,
    NOT,
    NOT_KNOWN,
    ON_THAT,
    REPLY,
    SAY,
    SOUGHT,
    SOURCE,
    SPOKEN,
    STATED,
    STRICT,
    TOLD,
    UNWILLING,
    WEAK,
    WH,
)
from evaluation.language.normalise import fold

_REFUSING = tuple(
    re.compile(rf"^(?:{pattern})")
    for pattern in (
        # The speaker does not know.
        r"(?:i|we) (?:(?:really|honestly|just|simply|actually|also) )?(?:do not|don't|did not|didn't|would not|"
        r"wouldn't) "
        r"(?:(?:really|honestly|actually|currently) )?know\b",
        r"(?:don't|do not|dont) know\b(?! about)",
        r"(?:i|we) (?:have|'ve|'ve got|have got) (?:absolutely )?no (?:idea|information|knowledge|answer|data|clue|way|"
        r"details|recollection|context)\b",
        r"(?:(?:i|we) (?:do not|don't|dont) have (?:a|any|the slightest|the faintest) (?:idea|clue))\b",
        r"(?:absolutely )?no (?:idea|clue)$",
        r"(?:(?:i am|i'm|im|we are|we're) )?(?:not|un)(?: entirely| quite| really| at all| completely| 100%)? ?"
        rf"(?:sure|certain)(?:$| {WH}| (?:about|of|on) (?:that|this|it|the answer)| which| enough)",
        r"(?:i am|i'm|im|we are|we're) (?:not|un)(?: entirely| quite| really| at all)? ?(?:sure|certain|aware|"
        r"familiar)\b",
        rf"(?:i|we) (?:do not|don't|dont) (?:currently |actually |really )?have (?:access to )?{INFO}\b",
        r"(?:i|we) (?:do not|don't|dont) (?:currently )?have access\b",
        rf"(?:i|we) (?:lack|am missing|have not been (?:given|provided with)|haven't been (?:given|provided with)|"
        rf"(?:was|were)(?: not|n't) (?:given|provided with)|(?:was|were) given no|have been given no) {INFO}\b",
        rf"(?:{UNWILLING})(?: be)? {REPLY}{ON_THAT}",
        rf"(?:(?:i|we) ?)?{CANNOT} (?:(?:speak|talk|go|get) (?:to|about|on|into)|discuss|disclose|elaborate on|"
        rf"comment on|reveal) {ASKED}$",
        rf"(?:(?:i|we) ?)?{CANNOT} (?:in good conscience|honestly|really|possibly|truthfully) (?:answer|say|tell|"
        rf"respond|reply)(?:$| (?:to )?{ASKED}$| {WH})",
        rf"(?:i|we) (?:have|ha(?:ve|d) found|found|find|see|know) nothing (?:on|about|regarding|for) (?:{ASKED}$|"
        rf".{{1,60}} {LOCATED} {DOCS}$)",
        rf"(?:(?:i|we) ?)?{CANNOT} (?:browse|access|look up|search|see) (?:the (?:internet|web)|real-time|"
        rf"current|live|external)\b",
        # It is beyond the speaker's knowledge or task.
        rf"(?:{ASKED} (?:is|falls|lies|goes) |it's |that's )?(?:outside|beyond)(?: of)? (?:(?:the )?(?:scope|"
        rf"range|limits) of )?"
        rf"(?:{DOCS}|my (?:knowledge|expertise|scope|training(?: data)?|capabilities|abilities)|what (?:i|the "
        rf"{SOURCE}) \w+)",
        rf"{ASKED} (?:is|falls|lies|goes) (?:outside|beyond)\b.*\b(?:scope|{SOURCE}|knowledge|expertise)\b",
        r"(?:i|we) (?:can|am able to|'m able to|was designed to|am designed to) only (?:answer|respond to|help "
        r"with|assist "
        r"with|discuss) (?:\w+ )?(?:questions?|quer\w+|topics?|inquir\w+)\b",
        r"(?:i am|i'm) only able to (?:answer|respond to|help with|assist with|discuss)\b",
        # The speaker is built for another task.
        rf"(?:{AS_A_TOOL} )?(?:i am|i'm|we are|we're) not (?:equipped|designed|trained|built|programmed|qualified|"
        r"intended|meant|authori[sz]ed|permitted|allowed) to (?:answer|provide|give|suggest|help|assist|discuss|"
        r"respond|offer|name|tell|say|identify|recommend|comment|speak|handle|address)\b",
        rf"{AS_A_TOOL} (?:i|we) ?{CANNOT} (?:answer|provide|give|suggest|help|assist|discuss|respond|offer|name|tell|"
        r"say|identify|recommend|comment|speak|handle|address)\b",
        # Nobody can answer.
        rf"(?:(?:i|we) ?)?{CANNOT} (?:answer|respond|reply)(?:$| (?:to )?(?:{ASKED}|{WH}|any|with|{LOCATED} "
        rf"{DOCS}|"
        r"(?:based|because|without|reliably|accurately|definitively|properly|fully)))",
        rf"(?:(?:i|we) ?)?{CANNOT} (?:determine|infer|ascertain|deduce|conclude|establish (?:{ASKED}|{WH}|from))\b",
        rf"(?:(?:i|we) ?)?(?:honestly |really |simply |just )?{CANNOT} (?:say|tell|know|verify|confirm|comment|"
        rf"speculate|guess|be sure|be "
        rf"certain)(?:{TOLD}|"
        r" on (?:this|that|it))",
        rf"(?:(?:i|we) ?)?{CANNOT} (?:find|locate|see|identify|retrieve) (?:{SOUGHT}|.{{1,60}} {LOCATED} {DOCS})",
        rf"(?:(?:i|we) ?)?{CANNOT} (?:provide|give|offer|share|supply)(?: (?:you|us|me))?(?: with)? (?:{ASKED}$|"
        rf"{INFO}\b|"
        r"an? (?:\w+ )?answer|a (?:definitive|specific|precise|reliable))",
        r"i (?:can ?not|can't|am unable to|'m unable to) (?:provide|give|share) (?:it|this|that)$",
        rf"(?:(?:i|we) ?)?{CANNOT} (?:help|assist|be of help)(?: you)?(?: there| here| further)?"
        rf"(?:$| (?:with|on|in) (?:{ASKED}|your\b.*|answering\b.*|th(?:at|is) \w+)$)",
        rf"{ASKED} {CANNOT_BE} (?:\w+ )?(?:determined|answered|found|known|inferred|verified|established|"
        rf"confirmed)\b",
        r"(?:can ?not|can't|could not) be (?:determined|answered|found|known|inferred|verified|established|confirmed)$",
        r"(?:can ?not|can't|could not) be (?:determined|answered|inferred|verified)\b",
        rf"(?:can ?not|can't|could not) be (?:found|known|established|confirmed) (?:{LOCATED}|using|with) {DOCS}",
        rf".{{0,80}}\b{CANNOT_BE} (?:determined|answered|found|inferred|established|deduced) (?:from|based|using|"
        rf"with|in) .*"
        rf"{SOURCE}",
        rf"{ASKED} (?:is|was)(?: not|n't) (?:answerable|possible to (?:answer|determine|say))\b",
        r"(?:there is|there's|there was|there are) no (?:way|means|basis|possibility) (?:to (?:know|tell|say|"
        r"determine|answer|"
        r"find out|verify|be sure)|of (?:knowing|telling|determining|saying))\b",
        r"no way (?:to (?:know|tell|say|determine)|of knowing)\b",
        r"(?:it is|it's )?(?: ?(?:hard|difficult|impossible|not possible)) to (?:say|tell|know|determine|answer)\b",
        r"(?:who knows|god knows|beats me|your guess is as good as mine|no comment(?: on (?:that|this|it))?|pass|"
        r"skip|not applicable)$",
        r"(?:i|we)(?: must| have to| will have to|'ll have to| am going to(?: have to)?|'m going to(?: have to)?|"
        r" need to)"
        r" (?:decline|abstain|pass)(?:$| (?:on|to|from)\b)",
        r"(?:i|we) (?:decline|refuse|abstain)\b(?: (?:to|from) (?:answer|say|respond|comment|speculat)\w*)?",
        r"(?:i|we) ?(?:would|'d|will|'ll)? ?(?:need|require) (?:more|further|additional|some more) (?:information|"
        r"context|details|"
        r"data)\b",
        r"(?:more|further|additional) (?:information|context|details|data) (?:is|are|would be) (?:needed|required|"
        r"necessary) "
        r"(?:to|before)\b.*\b(?:answer|determine|say|respond)\b",
        # The documents do not say.
        rf"(?:unfortunately,? )?{DOCS} {NOT} {SAY}\b",
        rf"{DOCS} {NOT} {HOLD} (?:.{{0,30}}\b)?(?:{INFO}\b|(?:it|this|that)$)",
        rf"{STRICT} {NOT} (?:contain|include|provide|give|list) the\b",
        rf"{DOCS} never (?:{SAY}s?|{HOLD}s? {INFO})\b",
        rf"{DOCS} {CANNOT} (?:be used to )?(?:answer|tell|help|determine)\b",
        rf"{DOCS} (?:is|are) (?:silent|insufficient|not (?:enough|sufficient|clear|helpful|relevant)|unrelated|"
        rf"irrelevant|"
        r"of no help)\b",
        rf"{DOCS} (?:(?:say|mention|state|reveal|disclose)s? nothing|remains? silent|leaves? (?:it|this|that) "
        rf"(?:open|unclear|"
        r"unanswered|out)|fails? to (?:mention|say|state|specify|address|answer|provide)|omits?|gives? no answer)\b",
        rf"{DOCS} (?:(?:make|give|contain|provide|offer|ha(?:ve|s)|hold|include|show|list)s?) no {INFO}\b",
        rf"{DOCS} (?:lacks?|(?:is|are) (?:missing|lacking)|(?:is|are) devoid of) {INFO}\b",
        rf"(?:none|neither|not one|no part|nowhere) (?:of |in )?{DOCS} (?:.{{0,40}}\b)?(?:{SAY}|{HOLD})(?:s|ed)?\b",
        rf"(?:nothing|nowhere) in {DOCS}",
        rf"no (?:document|passage|source|text|chunk|excerpt|article|section|snippet)s? (?:\w+ )?(?:{SAY}|{HOLD})s?\b",
        rf"(?:it|they) {NOT} {SAY}(?: (?:so|this|that|it|anything|who|whom|whose|what|when|where|why|how|whether|"
        r"which)\b.*)?$",
        rf"{DOCS} (?:only|just|merely) (?:mentions?|covers?|discuss(?:es)?|talks? about)\b.*\bnot\b",
        # The information is missing.
        rf"(?:there(?:'s| is| are| was| were) )?(?:no|not enough|n't enough|insufficient|not sufficient) {NO_INFO}"
        rf"(?: (?:(?<!data )on|on (?:this|that|it|{WH})|about|regarding|concerning|as to|available|given|"
        rf"provided|found|here|returned|that (?:answer|mention|say|"
        rf"state|address|specif)\w*|which (?:answer|mention|say|state)\w*)\b|$| (?:of|for) .{{1,80}} {LOCATED} {DOCS}"
        rf"| {LOCATED} {DOCS}| to (?:answer|determine|say|respond|tell|support|decide|make)\b)",
        rf"(?:there (?:is|are|was|were)n't|there (?:is|are|was|were) not) (?:any |enough |sufficient ){{1,2}}{INFO}"
        rf"(?:$| (?:on|about|regarding|{LOCATED} {DOCS}|to (?:answer|determine|say)|available|given|provided)\b)",
        r"(?:there(?:'s| is| are) )?(?:not enough|insufficient|not sufficient) (?:information|info|data|evidence|"
        r"context|"
        r"details)\b",
        rf"(?:there(?:'s| is| are| was| were) )?no (?:evidence|indication|context|mention|reference|trace|hint|"
        rf"record|answer)\b"
        rf".{{0,80}} {LOCATED} {DOCS}$",
        r"(?:there(?:'s| is| was) )?no mention of\b.{1,60}$",
        rf"no {NO_INFO} (?:is|are|was|were|has been|have been|could be|can be|exists?) (?:\w+ )?(?:available|"
        rf"given|provided|"
        rf"found|returned|retrieved|specified|stated|mentioned|there|here|present|located|identified)(?:$| (?:on|"
        rf"about|regarding|"
        rf"concerning|here|for (?:this|that|your)|{LOCATED} {DOCS}|that|which|to answer)\b)",
        rf"no (?:such )?{NO_INFO} (?:exists?|appears?)(?:$| {LOCATED} {DOCS})",
        r"(?:there(?:'s| is) )?no (?:known )?answer"
        r"(?: (?:(?:is|was|can be|could be) )?(?:\w+ly )?(?:found|given|available|provided|possible|present|stated|"
        r"there|here|in|known)\b.*)?$",
        r"(?:an? |the )?(?:empty|blank|null|no) (?:response|answer|result|reply|output)s?$",
        rf"(?:i|we) (?:did not|didn't|could not|couldn't|have not|haven't|do not|don't|cannot|can't|was unable to|"
        rf"were unable "
        rf"to|was not able to|wasn't able to) (?:find|found|see|locate)\b (?:{SOUGHT}|.{{1,60}} {LOCATED} {DOCS})",
        rf"(?:i|we) (?:see|saw|find|found|have) no (?:record|{INFO})\b",
        rf"(?:i|we) (?:do not|don't|did not|didn't|{CANNOT}) see (?:this|that|it|{INFO})\b",
        rf"there(?:'s| is| was) nothing (?:(?:about|on|regarding|concerning) .{{1,60}} )?(?:in|within) {DOCS}\b",
        rf"(?:there(?:'s| is| was) )?nothing (?:about|on|regarding) .{{1,60}} {LOCATED} {DOCS}$",
        rf"(?:the |any |such )?(?:answer|information|info|data|details?|results?)(?: requested| needed| you "
        rf"(?:need|want|"
        rf"requested|asked for)| to .{{1,40}})? ?(?:is |was |were |are |is n't )?not {ADVERBS}(?:{STATED}|"
        rf"{SPOKEN}|{WEAK})"
        rf"(?: {LOCATED} {DOCS}| here)?$",
        # The requested fact is not stated.
        rf"not {ADVERBS}(?:{STATED}|{WEAK}|{SPOKEN})(?: {LOCATED} {DOCS}| here| anywhere)$",
        rf"not {ADVERBS}(?:{STATED}|given|provided|available|known|found|clear|indicated|disclosed|listed)$",
        rf"{ASKED}(?:'s not| (?:is|was|are|were)(?: not|n't| never)| has not been) {ADVERBS}{STATED}(?: {LOCATED} "
        rf"{DOCS}| here| anywhere)?$",
        rf"(?:it|this|that)(?:'s not| (?:is|was)(?: not|n't)) {ADVERBS}(?:known|clear)(?:$| {WH}| {LOCATED} "
        rf"{DOCS})",
        rf"(?:the (?:answer|information|details?|data|info)|(?:this|that|the requested|such) (?:information|"
        rf"detail|data|info))"
        rf"(?: (?:requested|needed))?(?:'s not| (?:is|was|are|were)(?: not|n't)| has not been| does not appear to "
        rf"be| doesn't "
        rf"appear to be) {ADVERBS}(?:{STATED}|{SPOKEN}|{WEAK})(?:$| (?:here|anywhere|{LOCATED} {DOCS}))",
        rf".{{1,80}} (?:is|are|was|were|has been|have been|does|do)(?: not|n't| never|nowhere)(?: (?:appear|seem) "
        rf"to be)? "
        rf"{ADVERBS}{STATED}(?: {LOCATED} {DOCS}| here| anywhere)?$",
        rf".{{1,80}} (?:is|are|was|were|has been|have been)(?: not|n't| never| nowhere) {ADVERBS}(?:{WEAK}|"
        rf"{SPOKEN}) "
        rf"(?:{LOCATED} {DOCS}|anywhere)$",
        rf".{{1,80}} (?:is|are|was|were) nowhere (?:to be found|{STATED}|{SPOKEN})(?: {LOCATED} {DOCS})?$",
        rf"(?:{ASKED} (?:is|remains|was) |it's )(?:(?:still|currently|simply|entirely) )?{NOT_KNOWN}(?:$| {WH}|"
        rf" {LOCATED}\b| to (?:me|us)$)",
        rf"(?:{NOT_KNOWN}|n/a|none given|none provided|none (?:stated|mentioned|specified|found)|idk|dunno|tbd|"
        rf"nothing found|"
        r"missing)$",
        rf".{{1,80}} (?:is|are|was|were|remains?|stays?) (?:left )?(?:unspecified|unstated|unmentioned)(?: "
        rf"{LOCATED} {DOCS})?$",
        rf".{{1,80}} (?:is|are|was|were|remains?) (?:left )?{NOT_KNOWN} (?:from|according to|based on|in) {DOCS}$",
        r"(?:information|info|data|details?|answer)s? (?:unavailable|missing|lacking|not available|not found)$",
        rf"(?:{ASKED}(?:'s not| (?:is|was)(?: not|n't)) |it's )(?:not )?(?:in|within|part of|among) {DOCS}$",
        rf"(?:{ASKED} (?:is|was) |it's )?not (?:in|within|part of|among) {DOCS}$",
        rf"{ASKED} (?:does not|doesn't|do not|don't) (?:appear|seem to appear|occur|exist)(?: anywhere)? (?:in|"
        rf"within) {DOCS}$",
        rf"nothing (?:is|was) (?:{STATED}|said|known|written) (?:about|on) .{{1,60}} (?:in|by) {DOCS}$",
        rf"(?:that|this|it)(?:'s| is) not (?:something|covered by anything|anything) (?:that )?(?:i (?:know|can)|"
        rf"{DOCS} "
        r"\w+)\b",
    )
)
_EMPTY = re.compile(
    r"^(?:(?:i am|i'm|im|we are|we're) (?:so |very |really |truly )?(?:sorry|afraid)|sorry|apologies|my apologies|"
    r"i (?:sincerely |deeply )?apologi[sz]e(?: for .*)?|oops|"
    r"unfortunately|"
    r"as an? (?:ai|artificial intelligence|(?:large )?language model|assistant)\b(?: \w+){0,3}|please (?:provide|"
    r"check|consult|contact|ask|give|see|share|let|rephrase|try)\b.*|"
    r"(?:i|you) (?:can|could|may|might)(?: \w+)? (?:help|check|consult|contact|ask|try)\b.*|"
    r"let me know\b.*|feel free\b.*|"
    rf"{BASED} (?:only )?{DOCS}(?: alone)?|"
    r"to answer (?:this|that|the question)|to my knowledge|as far as i (?:know|can tell|can see)|at this time|"
    r"the answer|answer|well|hmm+|no|okay|ok|therefore|thus|hence|so|as such|consequently|accordingly)$"
)
_LEAD = re.compile(
    r"^(?:as an? (?:ai|artificial intelligence|(?:large )?language model|assistant)\b(?: (?:language )?model)?|"
    r"i (?:sincerely |deeply )?apologi[sz]e(?: for (?:the|any) (?:\w+ )?\w+)?|we apologi[sz]e|my apologies|"
    r"currently|at (?:this|the) (?:time|moment)|"
    r"sorry|unfortunately|regrettably|apologies|i'm (?:very |so |really )?sorry|i am (?:very |so |really )?sorry|"
    r"i'm afraid(?: that)?|i am afraid(?: that)?|i regret(?: to say)?(?: that)?|well|"
    r"hmm+|no|however|so|therefore|thus|and|but|answer|honestly|to my knowledge|as far as i (?:know|can tell|can see)|"
    rf"{BASED} (?:only )?{DOCS}(?: alone)?)"
    r"(?:, ?|: ?| but | |$)(?:but )?"
)
_SENTENCE = re.compile(r"(?<=[.!?])[\"')]*\s+|\n+|(?<!\s)\s*;\s*|(?<!\s)\s+-\s+|:\s+(?=\S)")
_TURN = re.compile(
    r",? (?:but|though|although|however|yet|nevertheless)[, ]+|"
    r", ?(?=(?:maybe|perhaps|probably|possibly|presumably|likely|i (?:think|believe|guess|suppose|would say)|"
    r"it (?:was|is|might|may|could|must)|that (?:is|was)|so|as|because|since|the answer)\b)|"
    r", (?=(?-i:[A-Z0-9]))|"
    r",? (?=(?:because|due to|given that|as a result of)\b)",
    re.IGNORECASE,
)
_CONNECTED = re.compile(r"^(?:so|as|due to|given that|because|since|that|and|but|therefore|hence) ")


def declines_in_english(text: str) -> bool:
    """Return whether a complete text declines in English and claims nothing. False for an empty text."""
    refused = False
    folded = fold(text)
    # In a text in capitals, a capital after a comma carries no information.
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
    """Return whether a clause is capitalised like a title ("I Don't Know How to Love Him"): a name, not a refusal."""
    words = [w for w in re.findall(r"[^\W\d_][\w']*", part) if len(w) > 3]
    return len(words) >= 3 and not part.isupper() and all(w[0].isupper() for w in words)


def _cleaned(part: str) -> str:
    """Return the text in lower case, without punctuation at its ends."""
    return re.sub(r"\s+", " ", part).strip(" \t.,!?\"'()*-:;").casefold()


def _refuses(clause: str) -> bool:
    """Return whether one clause declines after its introduction ("sorry,", "based on the passages,") is removed."""
    while True:
        if any(pattern.match(clause) for pattern in _REFUSING):
            return True
        shorter = _CONNECTED.sub("", _LEAD.sub("", clause, count=1), count=1)
        if shorter == clause or not shorter:
            return False
        clause = shorter
