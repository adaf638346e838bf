"""Location of the error in an edited claim by comparison with supported claims on the same evidence.

Sets of edited summaries (SummEdits, Laban et al. 2023) label a complete summary although only two or three words were
changed. Comparison with a supported neighbour shows the change. A verifier can then be trained with the wrong words
marked, on single sentences, as it is used.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from data.pairs import PairExample
from retrieval.chunking.sentences import sentence_spans

_WORD = re.compile(r"\w+(?:[.,'’:/-]\w+)*|[^\w\s]")
_MIN_SIMILARITY = 0.75
"""Minimum share of common words; below it, the claim is not an edit of its neighbour."""

_MAX_WRONG = 0.3
"""Maximum share of a claim's words that may be marked; above it, the marks would include paraphrases."""

_MIN_SENTENCE = 4  # words; a shorter sentence is not a claim


def by_sentence(examples: Sequence[PairExample]) -> list[PairExample]:
    """Mark wrong words in the examples if a neighbour shows them, and split long claims into sentences.

    The sentences of a supported claim are supported. Of an unsupported claim with known wrong words, a sentence is
    unsupported if it contains one of them; otherwise it equals the neighbour's and is supported. An unsupported claim
    without marks is not split. A sentence that repeats with the same evidence and question is returned once. Order is
    kept.
    """
    neighbours: dict[tuple[str, str], list[str]] = defaultdict(list)
    for example in examples:
        if example.supported:
            neighbours[example.evidence, example.question].append(example.claim)
    out: dict[tuple[str, str, str, bool], PairExample] = {}
    for example in examples:
        marked = example
        if not example.supported and example.wrong is None:
            found = differing_words(example.claim, neighbours[example.evidence, example.question])
            marked = replace(example, wrong=found) if found else example
        for part in _sentences(marked):
            out.setdefault((part.evidence, part.question, part.claim, part.supported), part)
    return list(out.values())


def differing_words(claim: str, neighbours: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return (start, end) in ``claim`` of the words that differ from its nearest neighbour.

    Empty if the comparison is not informative: no neighbour is similar enough, words are only missing from the claim,
    or too much differs.
    """
    mine = list(_WORD.finditer(claim))
    words = [match.group().lower() for match in mine]
    if not words:
        return ()
    best: tuple[float, SequenceMatcher[str]] | None = None
    for neighbour in neighbours:
        theirs = [match.group().lower() for match in _WORD.finditer(neighbour)]
        matcher = SequenceMatcher(None, theirs, words, autojunk=False)
        similarity = matcher.ratio()
        if similarity >= _MIN_SIMILARITY and (best is None or similarity > best[0]):
            best = similarity, matcher
    if best is None:
        return ()
    changed = [
        (mine[first].start(), mine[last - 1].end(), last - first)
        for kind, _, _, first, last in best[1].get_opcodes()
        if kind in ("replace", "insert")
        and any(character.isalnum() for word in words[first:last] for character in word)
    ]
    if not changed or sum(count for _, _, count in changed) > max(1.0, _MAX_WRONG * len(words)):
        return ()
    return tuple((start, end) for start, end, _ in changed)


def _sentences(example: PairExample) -> Iterator[PairExample]:
    spans = sentence_spans(example.claim)
    if len(spans) < 2 or (not example.supported and example.wrong is None):
        yield example
        return
    for span in spans:
        text = example.claim[span.start : span.end]
        inside = tuple(
            (max(start, span.start) - span.start, min(end, span.end) - span.start)
            for start, end in example.wrong or ()
            if start < span.end and end > span.start
        )
        if len(_WORD.findall(text)) >= _MIN_SENTENCE or inside:
            supported = example.supported or not inside
            yield replace(example, claim=text, supported=supported, wrong=None if supported else inside)
