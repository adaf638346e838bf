"""Conversion of responses with annotated hallucination spans into training claims, sentence by sentence."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from data.pairs import PairExample
from data.ragtruth import RagResponse
from evaluation.claims.sentences import extract_sentences, plain_claim_text
from evaluation.outcomes import Claim


def response_claims(responses: Sequence[RagResponse], name: str) -> Iterator[PairExample]:
    """Yield one example per claim of each response, in order, split and rendered as ``model eval`` does.

    A claim is unsupported if an annotated span contains a letter or digit of it. The rest of a response counts as
    supported, because its annotators left it unmarked. Sentences without a claim are skipped, marked or not. name: name
    of the set; an example's source is "name:task", and its group is the response's source text.
    """
    for number, response in enumerate(responses):
        if not response.evidence.strip():
            continue
        for claim in extract_sentences(response.text).claims:
            plain = plain_claim_text(claim.text)
            if not any(c.isalnum() for c in plain):
                continue
            marked = _inside(claim, response)
            example = PairExample(
                response.evidence,
                plain,
                supported=not marked,
                question=response.question,
                source=f"{name}:{response.task}",
                group=f"{name}:{response.source_id}",
                answer=f"{number}:{response.id}",
            )
            yield replace(example, wrong=_mapped(claim.text, plain, marked)) if marked else example


def _inside(claim: Claim, response: RagResponse) -> list[tuple[int, int]]:
    """Return (start, end) in the claim of the annotated parts that contain a letter or digit."""
    pieces = [(max(start - claim.start, 0), min(end, claim.end) - claim.start) for start, end in response.spans]
    return [(start, end) for start, end in pieces if any(c.isalnum() for c in claim.text[start : max(start, end)])]


def _mapped(text: str, plain: str, spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...] | None:
    """Map spans of ``text`` to the claim text, which lacks its markers, emphasis and wide spaces.

    Returns None if the claim text is not what remains of ``text``, or if nothing remains of a span.
    """
    kept: list[int] = []  # for each character of the claim, its offset in the text
    for index, character in enumerate(text):
        if len(kept) < len(plain) and (
            character == plain[len(kept)] or (character.isspace() and plain[len(kept)] == " ")
        ):
            kept.append(index)
    if len(kept) < len(plain):
        return None
    moved = [(bisect_left(kept, start), bisect_left(kept, end)) for start, end in spans]
    return tuple(moved) if all(start < end for start, end in moved) else None
