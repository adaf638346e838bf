"""Extraction of one claim per sentence or list item of a longer completion.

A claim's text is a substring of the completion, so that it can be marked there. Scorers read it as ``plain_claim_text``
returns it. Pronouns are not resolved: usually the question, which is read with every claim, does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from evaluation.claims.extraction import CUT_OFF, Extraction, stated_span
from evaluation.claims.fillers import is_filler, is_opener, lead_length
from evaluation.declining.refusals import is_refusal
from evaluation.language.citation_marks import without_marks
from evaluation.outcomes import Claim
from generation.causal.answer_part import answer_part
from model.english import word_set
from retrieval.chunking.scripts import SENTENCE_MARKS
from retrieval.chunking.sentences import Span, sentence_spans

_MIN_REPETITION = 12
"""A last sentence longer than this, in characters, that begins an earlier sentence is a repetition that was cut off."""
_MAX_SHORT_WORDS = 6
"""Maximum number of words of a one-line answer that is a single claim whatever the segmenter finds ("St. John's")."""

_BULLET = re.compile(r"[ \t>]*[-*+•‣◦▪·–—][ \t]+(?:\[[ xX]\][ \t]+)?")
_NUMBER = re.compile(r"[ \t>]*(?:\(?(?P<number>\d{1,3})[.)]|\(?[a-zA-Z]\))[ \t]+(?=\S)")
_HEADING = re.compile(r"[ \t>]*(?:#{1,6}(?:[ \t]|$)|```|~~~)")
_BOLD_LINE = re.compile(r"[ \t]*(\*\*|__)[^*_\n]{1,200}\1[ \t]*:?[ \t]*\r?$")
_FIELD = re.compile(r"[ \t>]*(?:\*\*)?[^\W\d_][\w '()/&-]{0,40}(?:\*\*)?:(?:\*\*)?[ \t]+\S")
_TABLE_RULE = re.compile(r"[ \t:|-]*\r?$")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_`]+|[*_`]+(?!\w)")
_CLOCK_END = re.compile(
    r"(?<![\w.:])(?P<named>(?:[Tt]he|[Aa]n?|[Tt]h(?:is|at)|[Ii]ts|[Tt]heir|[Ee](?:ach|very))\s+)?"
    r"\d{1,2}(?:[:.]\d\d)?\s?[AaPp]\.[Mm]\.[\"'”’)\]]*\s+"
    r"(?=(?P<next>[AI]\b|[A-ZÀ-Þ][a-zà-ÿ'’]\w*))"
)
_AFTER_CLOCK = word_set(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August "
    "September October November December Eastern Central Mountain Pacific Atlantic Greenwich Coordinated Universal"
)
_FULL_STOP = re.compile(f"[{SENTENCE_MARKS}]+[」』”’）】\"')]*")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2028\u2029\u2060\ufeff\ud800-\udfff]+")


def sentence_claims(text: str) -> tuple[Claim, ...]:
    """Return the claims of a completion, in order: ``text[c.start:c.end] == c.text``. See ``extract_sentences``."""
    return extract_sentences(text).claims


def extract_sentences(text: str, question: str = "") -> Extraction:
    """Extract one claim per sentence or list item. The result is refused if there is no claim and the text declines.

    Bullets, numbering, quote marks, headings, table rules and citation marks at the ends are not part of a claim.
    Sentences that claim nothing are left out: greetings, lead-ins that end in a colon, offers of help, questions,
    hedges and refusals. "Yes." belongs to the next sentence. A short answer is one claim.
    """
    part = answer_part(text)
    if part.cut_off:
        return Extraction((), False, CUT_OFF)
    found = _claims_of(text[part.start : part.end], question)
    claims = tuple(Claim(c.text, part.start + c.start, part.start + c.end) for c in found.claims)
    return Extraction(claims, found.refused, found.reason)


def _claims_of(text: str, question: str) -> Extraction:
    body = stated_span(text)
    if body is None:
        return Extraction((), False)
    if is_refusal(text[body.start : body.end], question):
        return Extraction((), True)
    spans: list[Span] = []
    refused = dropped = False
    for block in _blocks(text):
        opener: Span | None = None
        for span in _sentences(text, block):
            sentence = text[span.start : span.end]
            if is_refusal(sentence):
                refused = True
            elif is_filler(sentence) or sentence.rstrip("\"'*_)”’ ").endswith(("?", ":", "？", "؟", "：")):
                dropped = True
            elif is_opener(sentence):
                opener = opener or span
            else:
                spans.append(Span(opener.start if opener else span.start + _lead_in_length(sentence), span.end))
                opener = None
        if opener:
            spans.append(opener)
    if len(spans) > 1 and _is_cut_repetition(text, spans):
        spans.pop()
    if len(spans) > 1 and not refused and not dropped and _is_short(text[body.start : body.end]):
        spans = [body]
    return Extraction(tuple(Claim(text[s.start : s.end], s.start, s.end) for s in spans), refused and not spans)


def plain_claim_text(claim: str) -> str:
    """Return a claim's text as scorers read it: no markers, emphasis or control characters, and single spaces."""
    plain = _EMPHASIS.sub("", without_marks(_CONTROL.sub(" ", claim)))
    return " ".join(plain.strip("| \t").replace(" | ", ", ").split())


def _is_cut_repetition(text: str, spans: Sequence[Span]) -> bool:
    """Return whether the last sentence is the beginning of an earlier one, that is a repetition that was cut off."""
    last = text[spans[-1].start : spans[-1].end]
    return len(last) > _MIN_REPETITION and any(
        len(last) < s.end - s.start and text.startswith(last, s.start) for s in spans[:-1]
    )


def _is_short(body: str) -> bool:
    if any(match.end() < len(body) for match in _FULL_STOP.finditer(body)):
        return False
    return "\n" not in body and len(body.split(None, _MAX_SHORT_WORDS)) <= _MAX_SHORT_WORDS


def _lead_in_length(sentence: str) -> int:
    """Return the length in characters of a lead-in, or 0 if nothing follows it."""
    length = lead_length(sentence)
    return length if any(c.isalnum() for c in sentence[length:]) else 0


def _sentences(text: str, block: Span) -> Iterator[Span]:
    """Yield the span of each sentence of a block, without markers at its ends."""
    for sentence in sentence_spans(text[block.start : block.end]):
        absolute = Span(block.start + sentence.start, block.start + sentence.end)
        cuts = sorted({absolute.start, *_after_times(text, absolute), *_after_full_stops(text, absolute), absolute.end})
        for start, end in pairwise(cuts):
            stated = stated_span(text[start:end])
            if stated is not None:
                yield Span(start + stated.start, start + stated.end)


def _after_times(text: str, sentence: Span) -> Iterator[int]:
    """Yield starts of sentences after a time of day, because the segmenter does not end a sentence at "p.m.".

    A weekday, month or time zone does not start a sentence ("at 8 p.m. Friday"). Nor does the text after a time that
    belongs to a name ("the 8 p.m. Mass").
    """
    for match in _CLOCK_END.finditer(text, sentence.start, sentence.end):
        after = match["next"]
        if not match["named"] and after.removesuffix("s") not in _AFTER_CLOCK:
            yield match.end()


def _after_full_stops(text: str, sentence: Span) -> Iterator[int]:
    """Yield starts of sentences after a final mark of scripts other than Latin, Greek and Cyrillic."""
    for match in _FULL_STOP.finditer(text, sentence.start, sentence.end):
        if match.end() < sentence.end:
            yield match.end()


def _blocks(text: str) -> Iterator[Span]:
    """Yield paragraphs, list items, fields and table rows, in order; headings and rules are left out."""
    lines = _lines(text)
    numbered = _has_numbered_list([text[line.start : line.end] for line in lines])
    start: int | None = None
    end = 0
    for index, line in enumerate(lines):
        written = text[line.start : line.end]
        content = _after_bullet(written, numbered)
        row = written.lstrip().startswith("|")
        below = text[lines[index + 1].start : lines[index + 1].end] if index + 1 < len(lines) else ""
        header = row and "-" in below and _TABLE_RULE.match(below)
        title = _HEADING.match(written) or _BOLD_LINE.match(written)
        closes = not written.strip() or title or row or content or _FIELD.match(written)
        if closes and start is not None:
            yield Span(start, end)
            start = None
        if not written.strip() or title or header:
            continue
        if start is None:
            start = line.start + content
        end = line.end
        if row:
            yield Span(start, end)
            start = None
    if start is not None:
        yield Span(start, end)


def _lines(text: str) -> list[Span]:
    lines: list[Span] = []
    start = 0
    for line in text.split("\n"):
        lines.append(Span(start, start + len(line)))
        start += len(line) + 1
    return lines


def _after_bullet(line: str, numbered: bool) -> int:
    """Return the length in characters of a list item's bullet or number; 0 if there is none."""
    bullet = _BULLET.match(line)
    position = bullet.end() if bullet else 0
    number = _NUMBER.match(line, position) if numbered else None
    return number.end() if number else position


def _has_numbered_list(lines: Sequence[str]) -> bool:
    """Return whether numbers at the starts of lines are list numbers.

    A single number may belong to a date ("5. June") unless it is 1.
    """
    found = [m for m in map(_NUMBER.match, lines) if m]
    return len(found) > 1 or any(m["number"] in ("1", None) for m in found)
