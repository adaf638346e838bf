"""Find clauses that are simple enough to be turned into a question without a parser.

`generation.synthetic_questions.clauses` guesses a clause for most sentences, which suits training data. An evaluation
question must be well-formed. This module accepts only clauses that start their sentence, have one finite verb, and end
where a new clause starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from generation.english.tokens import Token, base_form
from generation.english.verbs import BASES, THIRD
from generation.english.words import BE
from generation.synthetic_questions.clauses import Clause, clause_of
from generation.synthetic_questions.spans import AnswerSpan
from model.english import word_set

_MIN_TOKENS, _MAX_TOKENS = 6, 42
_VAGUE_SUBJECT: Final = word_set(
    "this these that those other another such both some many most all each any no one there"
)
_BEFORE_RANGE: Final = word_set("from between than")
_AFTER_ANSWER: Final = word_set("of per to or than and each a an")
_TIME_BEFORE: Final = word_set("after before since until following during")
_LOOSE: Final = word_set("called named known termed dubbed titled")
_CLAUSES_AFTER: Final = word_set("but and so which who where when while because although whereas since if whose")


def plain_clause(tokens: Sequence[Token], answer: AnswerSpan) -> Clause | None:
    """Return the clause around ``answer``, or None if the sentence is not simple enough."""
    if not _MIN_TOKENS <= len(tokens) <= _MAX_TOKENS:
        return None
    clause = clause_of(tokens, answer)
    if clause is None or clause.helper is not None:
        return None
    has_intro = clause.intro[0] < clause.intro[1]
    first = clause.intro[0] if has_intro else clause.subject[0]
    if first != 0 or (has_intro and tokens[clause.intro[1]].tag != ","):
        return None
    if clause.intro[0] <= answer.left < clause.intro[1] and (answer.left, answer.right) != (1, clause.intro[1]):
        return None  # "After graduating in 1910, ...": the question is not about the time
    simple = _one_verb(tokens, clause) and _ends_clause(tokens, clause.end) and _is_simple(tokens, clause, answer)
    return clause if simple and _answer_fits(tokens, clause, answer) else None


def _one_verb(tokens: Sequence[Token], clause: Clause) -> bool:
    finite = [index for index in range(clause.subject[0], clause.end) if tokens[index].tag in "AV"]
    if finite != [clause.verb]:
        return False
    verb = tokens[clause.verb]
    if verb.tag == "V":
        base = base_form(verb.low)
        if (base or verb.low) not in BASES:
            return False
    return clause.subject[1] <= clause.verb


def _ends_clause(tokens: Sequence[Token], end: int) -> bool:
    """Return whether the sentence ends at token ``end``, or another clause starts there."""
    if end >= len(tokens) or tokens[end].tag == ";":
        return True
    rest = tokens[end:]
    if rest[0].tag == ",":
        return (
            len(rest) > 2
            and rest[1].low in _CLAUSES_AFTER
            and (rest[1].tag == "S" or any(token.tag in "AV" for token in rest[2:10]))
        )
    return rest[0].tag == "C" and any(token.tag in "AV" for token in rest[1:8])


def _is_simple(tokens: Sequence[Token], clause: Clause, answer: AnswerSpan) -> bool:
    """Return whether the clause has no subordinate clause, comma or unresolved reference outside the answer."""
    words = tokens[clause.subject[0] : clause.end]
    outside = [t for t in words if not tokens[answer.left].start <= t.start < tokens[answer.right - 1].end]
    if any(token.tag in ";S," for token in outside) or any(t.tag in ";S" for t in tokens[: clause.end]):
        return False
    subject = tokens[clause.subject[0] : clause.subject[1]]
    return subject[0].low not in _VAGUE_SUBJECT


def _answer_fits(tokens: Sequence[Token], clause: Clause, answer: AnswerSpan) -> bool:
    """Return whether the rest of the clause is grammatical without the answer."""
    after = tokens[answer.right] if answer.right < clause.end else None
    before = tokens[answer.left - 1] if answer.left else None
    is_subject = (answer.left, answer.right) == clause.subject
    if after is not None and not is_subject and (after.low in _AFTER_ANSWER or after.tag in "'X#NJ"):
        later = tokens[answer.right + 1 : clause.end]
        plain = not any(token.low == "of" or token.tag == "G" for token in later)
        return after.low == "of" and answer.ask == "percentage" and plain
    if before is not None and before.low in _BEFORE_RANGE:
        return False
    inside_subject = clause.subject[0] <= answer.left < clause.subject[1]
    if inside_subject and not is_subject:
        subject = tokens[clause.subject[0] : clause.subject[1]]
        counted = answer.left == clause.subject[0] and answer.kind in ("number", "measure")
        return counted and not any(token.tag in "C," for token in subject)
    be = tokens[clause.verb].tag == "A"
    if is_subject and be and tokens[clause.verb + 1].low in ("a", "an", "one"):
        return False  # the answer would not be unique: many things are "a river in Asia"
    between = tokens[clause.verb : answer.left]
    if any(token.tag == "C" for token in between) and answer.kind not in ("date", "place"):
        return False
    if answer.kind in ("phrase", "listed"):
        if is_subject:
            return _singular(tokens, clause) and (not be or _passive(tokens, clause))
        direct = answer.left == clause.verb + 1 and (tokens[clause.verb].tag == "V" or (be and answer.kind == "listed"))
        causing = base_form(tokens[clause.verb].low) in ("make", "let", "see", "keep")  # "made them withdraw"
        return direct and not causing and (after is None or after.tag == "P")
    if be and tokens[clause.verb].low in BE and not _passive(tokens, clause) and answer.kind in ("date", "number"):
        return False
    if be and answer.ask == "percentage" and answer.left == clause.verb + 1:
        return False
    if answer.kind == "measure" and (before is None or before.tag != "P") and answer.ask not in ("percentage", "money"):
        # "is 2.4 metres wide", "made six weeks in advance": the question would need "how wide", "how far".
        return not be and after is None
    return _can_drop_answer(tokens, clause, answer)


def _can_drop_answer(tokens: Sequence[Token], clause: Clause, answer: AnswerSpan) -> bool:
    """Return whether the words before the answer can stay in place when the answer is removed."""
    before = tokens[answer.left - 1] if answer.left else None
    earlier = tokens[answer.left - 2] if answer.left > 1 else None
    if before is None:
        return True
    inside = answer.left > clause.verb
    if inside and earlier is not None and earlier.tag == "B" and tokens[clause.verb].tag == "V":
        return False  # "languages spoken by 25 million": a separate participle clause
    if inside and any(token.low in _TIME_BEFORE for token in tokens[clause.verb : answer.left - 1]):
        return False  # "after a large drop in the 1990s"
    if answer.kind == "date":
        return before.low in ("in", "on", "at", "during")
    if answer.kind == "person" and before.low == "by":
        return earlier is not None and earlier.tag in "BV"
    if answer.kind == "place" and before.tag == "P" and earlier is not None and earlier.tag == "X":
        return answer.left < 3 or tokens[answer.left - 3].tag not in "PX"
    if answer.kind == "name" and before.tag == "P" and before.low != "by":
        return False
    if answer.kind in ("name", "group") and before.tag == "P":
        return answer.right >= clause.end or (answer.left, answer.right) == clause.subject
    return not (before.low in _LOOSE and answer.kind != "name")


def _singular(tokens: Sequence[Token], clause: Clause) -> bool:
    """Return whether the verb is not plural, so that "What" may replace the subject."""
    verb = tokens[clause.verb]
    if verb.tag == "V":
        return verb.low in THIRD or base_form(verb.low) is not None
    return verb.low not in ("are", "were", "have", "do")


def _passive(tokens: Sequence[Token], clause: Clause) -> bool:
    following = next((t for t in tokens[clause.verb + 1 : clause.end] if t.tag != "T"), None)
    return following is not None and following.tag == "B"
