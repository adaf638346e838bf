"""Find the clause that answers the question, for an answer that names the reference and an alternative.

An answer that contains the reference has not necessarily given it: "It opened in 1936; some say 1937." A mention counts
if its clause shares as many words with the question as any clause with a rival. These are rules without a model.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.language.normalise import STOP_WORDS, Token, singular
from evaluation.language.opposites import opposite_comparatives
from evaluation.language.values import Value, comparable, same_value
from evaluation.verifiers.match import HALF, Match
from evaluation.verifiers.reading import Reading
from model.english import word_set

_ENDS = frozenset({".", ";", "!", "?", ":", "(", ")", "\n"})
_JOINTS = word_set(
    "but while although though whereas because which however unlike after before since until when if than and"
)
_EXPLICIT = 50
_STEM = 5


def outranked_value(a: Reading, q: Reading, value: Value, same_kind: Sequence[Value]) -> Match | None:
    """Return why a value equal to the reference does not count: a rival is in the answering clause. None if it counts.

    a: reading of the answer.
    q: reading of the question.
    value: value of the answer that equals the reference.
    same_kind: the answer's values that could be rivals.
    """
    rivals = [
        v
        for v in same_kind
        if v is not value
        and comparable(value, v)
        and _similar(value, v)
        and not (same_value(value, v) or same_value(v, value))
    ]
    if not rivals:
        return None
    own_weight = _weight(a, q, value.start, value.end)
    for rival in rivals:
        rival_weight = _weight(a, q, rival.start, rival.end)
        first = rival.start < value.start
        if rival_weight > own_weight or (
            rival_weight == own_weight and (first or rival_weight > 0) and not _same_clause(a, value, rival)
        ):
            return Match("unverifiable", HALF, "the answering clause gives another value")
    return None


def outranked_phrase(a: Reading, r: Reading, q: Reading, start: int, end: int) -> Match | None:
    """Return why a mention of the reference text does not count: another clause, sentence or option answers.

    a, r, q: readings of answer, reference and question.
    start, end: tokens of the mention in the answer.

    Returns None if the mention counts.
    """
    chosen = _other_option(a, r, q)
    if chosen is not None:
        return chosen
    if _is_origin(a.tokens, q, start, end):
        return Match("unverifiable", HALF, "the answer names the reference only as an origin")
    own_overlap = _weight(a, q, start, end)
    for clause in _clauses(a.tokens):
        tokens = a.tokens[clause.start : clause.stop]
        if (
            not clause.start <= start < clause.stop
            and _overlap(tokens, q) > own_overlap
            and _has_rival(tokens, r, q, 0)
        ):
            return Match("unverifiable", HALF, "the answering clause gives another name")
    sentences = _sentences(a.tokens)
    sentence_index = next((i for i, s in enumerate(sentences) if s.start <= start < s.stop), 0)
    if sentence_index == 0:
        return None
    own_overlap = _overlap(a.tokens[sentences[sentence_index].start : sentences[sentence_index].stop], q)
    for sentence in sentences[:sentence_index]:
        tokens = a.tokens[sentence.start : sentence.stop]
        overlap = _overlap(tokens, q)
        if overlap > own_overlap or (overlap == own_overlap and _has_rival(tokens, r, q)):
            return Match("unverifiable", HALF, "another sentence answers the question before the reference is named")
    return None


def _similar(a: Value, b: Value) -> bool:
    """Return whether two values could answer the same question: both years, or numbers with the same unit or noun."""
    if a.number is None or b.number is None:
        return True
    if not a.units and not a.nouns and not b.units and not b.nouns:
        return a.number.year == b.number.year
    return bool({u.dimension for u in a.units} & {u.dimension for u in b.units}) or not (b.units or b.nouns)


def _same_clause(a: Reading, one: Value, other: Value) -> bool:
    return any(c.start <= one.start < c.stop and c.start <= other.start < c.stop for c in _clauses(a.tokens))


def _weight(a: Reading, q: Reading, start: int, end: int) -> int:
    for clause in _clauses(a.tokens):
        if clause.start <= start < clause.stop:
            return _overlap(a.tokens[clause.start : clause.stop], q)
    return 0


def _overlap(tokens: Sequence[Token], q: Reading) -> int:
    """Return the number of the question's content words in a clause; _EXPLICIT if the clause announces the answer."""
    words = [t.lower for t in tokens if t.kind != "mark"]
    if "answer" in words[:4] and "is" in words[:6]:
        return _EXPLICIT
    question_words = {singular(t.lower)[:_STEM] for t in q.tokens if t.kind == "word" and t.lower not in STOP_WORDS}
    return len(question_words & {singular(w)[:_STEM] for w in words})


def _clauses(tokens: Sequence[Token]) -> list[range]:
    clauses, start = [], 0
    for index, token in enumerate(tokens):
        comma = token.text == "," and index + 1 < len(tokens) and tokens[index + 1].kind == "word"
        if token.text in _ENDS or token.lower in _JOINTS or comma:
            if index > start:
                clauses.append(range(start, index))
            start = index + 1
    if start < len(tokens):
        clauses.append(range(start, len(tokens)))
    return clauses


def _sentences(tokens: Sequence[Token]) -> list[range]:
    sentences, start = [], 0
    for index, token in enumerate(tokens):
        final = token.text in ("!", "?", ";") or (
            token.text == "."
            and (index + 1 >= len(tokens) or tokens[index + 1].text[:1].isupper())
            and index > start + 1
        )
        if final:
            sentences.append(range(start, index))
            start = index + 1
    if start < len(tokens):
        sentences.append(range(start, len(tokens)))
    return sentences


def _has_rival(tokens: Sequence[Token], r: Reading, q: Reading, first: int = 1) -> bool:
    """Return whether the reference is a name and a sentence has a name that neither question nor reference contains."""
    known = {t.lower for t in (*q.tokens, *r.tokens)}
    named = any(t.text[:1].isupper() for t in r.tokens if t.kind == "word")
    if not named:
        return False
    return any(
        t.kind == "word" and t.text[0].isupper() and t.lower not in known and t.lower not in STOP_WORDS
        for t in tokens[first:]
    )


def _is_origin(tokens: Sequence[Token], q: Reading, start: int, end: int) -> bool:
    """Return whether a mention is the X of "from X to Y" and the question does not ask for the origin."""
    question_words = {t.lower for t in q.tokens}
    return (
        start > 0
        and tokens[start - 1].lower == "from"
        and end + 1 < len(tokens)
        and tokens[end].lower in ("to", "into")
        and not question_words & {"from", "origin", "original", "originally", "first", "before"}
    )


def _other_option(a: Reading, r: Reading, q: Reading) -> Match | None:
    """Return a contradiction if the question has two options ("A or B") and the answer chooses the wrong one."""
    options = _options(q)
    if options is None:
        return None
    words = [singular(t.lower) for t in a.tokens]
    reference_words = {singular(t.lower) for t in r.tokens}
    scores = [len(own & reference_words) for own in options]
    if scores[0] == scores[1]:
        return None
    right, wrong = options if scores[0] > scores[1] else options[::-1]
    first = [next((i for i, word in enumerate(words) if word in own), None) for own in (right, wrong)]
    if first[0] is None or first[1] is None:
        return None
    chosen_right = first[0] < first[1]
    question_words = {t.lower for t in q.tokens}
    reversed_ = any(opposite_comparatives(t.lower, word) for t in a.tokens for word in question_words)
    if chosen_right == reversed_:
        return Match("contradicted", 0.0, "the answer chooses the other of the two options")
    return None


def _options(q: Reading) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the words that distinguish the two options of "..., A or B?"; None for other questions."""
    words = [t.lower for t in q.tokens]
    if words.count("or") != 1:
        return None
    index = words.index("or")
    left = index
    while left > 0 and index - left < 8 and words[left - 1] not in (",", ":", "is", "are", "was", "were", "between"):
        left -= 1
    right = index + 1
    while right < len(words) and right - index < 9 and words[right] not in ("?", ",", ".", ":"):
        right += 1
    one = {singular(w) for w in words[left:index] if w not in STOP_WORDS and w[0].isalnum()}
    other = {singular(w) for w in words[index + 1 : right] if w not in STOP_WORDS and w[0].isalnum()}
    if not one - other or not other - one:
        return None
    return frozenset(one - other), frozenset(other - one)
