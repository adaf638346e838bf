"""Regular expressions for parts of English refusals, for lower-case text without punctuation at its ends."""

from __future__ import annotations

GIVEN = (
    r"(?:the|these|those|this|that|any|all|provided|given|supplied|retrieved|available|above|following|attached|"
    r"uploaded|indexed|my|your|our|of|search|current|reference)"
)
SOURCE = (
    r"(?:documents?|documentation|passages?|context|texts?|articles?|sources?|chunks?|excerpts?|snippets?|information|"
    r"materials?|paragraphs?|content|corpus|collection|knowledge base|search results|results|records|files|pages|"
    r"extracts?|sections?|dataset|training data)"
)
DOCS = rf"(?:{GIVEN} )*{SOURCE}(?: (?:provided|given|above|supplied|available|here|i (?:have|was given)|you \w+))?"
# These words denote things as well as texts. They count as documents only after "provided" or the like.
STRICT = (
    r"(?:(?:(?:the|these|this|any|of) )*(?:provided|given|supplied|retrieved|above|following|attached|uploaded) "
    rf"(?:\w+ )?{SOURCE}|(?:(?:the|these|those|this|any|all|of) )*(?:documents?|passages?|context|texts?|"
    rf"sources?|chunks?|"
    r"excerpts?|snippets?|articles?|knowledge base|search results)(?: (?:provided|given|above|supplied|here))?)"
)
NOT = r"(?:do|does|did)(?: not|n't)(?: (?:actually|explicitly|specifically|directly|clearly|seem to|appear to))*"
SAY = (
    r"(?:say|mention|answer|state|specify|tell|indicate|reveal|disclose|address|discuss|explain|clarify|describe|"
    r"detail|"
    r"elaborate|speak|talk|refer|touch|cover|note|shed|help|allude|comment)"
)
HOLD = r"(?:contain|include|provide|give|have|offer|cover|hold|list|show|present|supply)"
KIND = (
    r"(?:any|enough|sufficient|the|an|a|this|that|these|those|such|specific|relevant|further|necessary|required|needed|"
    r"clear|more|additional|direct|explicit|exact|useful|related|matching|requested|detailed|reliable|appropriate|"
    r"other)"
)
INFO = (
    rf"(?:{KIND} )*(?:information|info|answers?|details?|mentions?|data|indication|knowledge|idea|reference|response|"
    r"material|matches|results?|records?|documents?|passages?|evidence|context|clue|hints?)"
)
NO_INFO = (  # "no evidence of a fracture" is about the fracture
    rf"(?:{KIND} )*(?:information|info|answers?|details?|mentions?|data|indication|reference|results?|match(?:es)?|"
    r"(?:documents?|passages?|records?|sources?))"
)
LOCATED = r"(?:in|by|from|within|inside|among|anywhere in|any of|according to|based on)"
STATED = r"(?:mentioned|stated|specified|spelled out|referred to|touched on)"
SPOKEN = r"(?:disclosed|answered|discussed|indicated|addressed|described|explained|covered|detailed|defined|noted)"
WEAK = (
    r"(?:given|provided|available|known|included|covered|listed|found|clear|contained|present|there|supplied|possible)"
)
ADVERBS = (
    r"(?:(?:explicitly|specifically|directly|clearly|currently|publicly|really|actually|yet|anywhere|"
    r"entirely|really) )*"
)
CANNOT = (
    r"(?:can ?not|can't|could not|couldn't|(?:am|is|are|was|were) (?:not able|unable) to|'m (?:not able|unable) to|"
    r"(?:isn't|aren't|wasn't|weren't) able to|unable to|not able to|would not be able to|won't be able to|"
    r"(?:am|'m) not in a position to|have not been able to|haven't been able to|failed to)"
)
AS_A_TOOL = r"as an? (?:[\w-]+ ){0,8}?(?:ai|assistant|model|bot|chatbot|checker|program|tool|system),?"
CANNOT_BE = r"(?:can ?not|can't|could not|couldn't) be"
BASED = r"(?:based on|according to|from|given|in|on the basis of|using|judging by|considering)"
ASKED = (
    r"(?:it|this|that|the (?:answer|information|question|details?|data|info|exact \w+)|(?:your|this|that|the|"
    r"these|such) "
    r"(?:specific |particular |exact )?(?:questions?|request|query|inquiry|topic|information|detail|point|matter|"
    r"answer)"
    r"(?: (?:requested|asked for|you (?:need|want|are looking for|asked for|requested)|to (?:this|that|your) "
    r"question))?)"
)
WH = r"(?:who|whom|whose|what|when|where|why|how|whether|which|if)\b"
REPLY = (  # verbs for a speaker who declines
    r"(?:(?:say|answer|respond|reply|comment|guess|speculate|discuss|disclose|reveal|share|speak|weigh in|elaborate)"
    r"(?:ing)?|(?:go|get|going|getting) into|talk(?:ing)? about|answering|speculating|guessing|commenting|disclosing|"
    r"sharing|revealing|elaborating)"
)
SURE = r"(?:for (?:sure|certain)|with (?:any )?(?:certainty|confidence)|exactly|definitively|reliably)"
TOLD = rf"(?: (?:you|us|me))?(?: {SURE})?(?:$| (?:{ASKED}|{WH}|{LOCATED} {DOCS}|{SURE}|anything|any ?more))"
SOUGHT = (
    rf"(?:{ASKED}|{INFO}|an? (?:\w+ )?answer|anything|any (?:\w+ )?(?:information|mention|reference|"
    rf"answer|details?))\b"
)
NOT_KNOWN = (
    r"(?:unknown|unclear|unspecified|unstated|undisclosed|unanswerable|unanswered|unmentioned|"
    r"undetermined|indeterminate)"
)
ON_THAT = (  # phrases that may follow REPLY if nothing else is stated
    rf"(?:$| (?:to |on |about |into |with )?(?:{ASKED}|{WH}|it|such|any|anything|here|now|at|right|further|without|"
    r"for (?:now|the moment)|in detail)\b)"
)
UNWILLING = (
    r"(?:i|we)(?: would|'d|'ll| will)?(?: really| much| strongly| honestly)* (?:rather|sooner|prefer|choose|opt|"
    r"like|elect|"
    r"decide)(?: to)? not(?: to)?|"
    r"(?:i|we)(?:'d| had) better not|let me not|"
    r"(?:i|we) (?:won't|will not|shall not|shan't|would not|wouldn't|should not|shouldn't|must not|do not (?:want|"
    r"wish|care|intend) to|"
    r"don't (?:want|wish|care|intend) to)|"
    r"(?:i|we)(?: am| are|'m|'re)? (?:not|un)(?: |)(?:going to|willing to|prepared to|comfortable(?: with)?|allowed to|"
    r"permitted to|authori[sz]ed to|at liberty to|inclined to)|"
    r"(?:i|we)(?: would|'d|'ll| will)?(?: rather| have to| need to| must)* (?:refrain|abstain|shy away|keep) from"
)
