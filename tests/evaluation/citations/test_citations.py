"""Citation recall and precision on cases that ALCE's definitions decide."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from data.questions import Question
from evaluation.citations.attribution import cited_sentences
from evaluation.citations.figures import arm_citations
from evaluation.citations.judging import AnswerToJudge, JudgedSentence, judge_citations
from evaluation.outcomes import Claim, Verdict
from evaluation.statistics.measure import Resampler, Settings
from evaluation.verifiers.verifier import VerificationItem
from generation.citations import find_citations
from generation.prompt import PromptChunk
from retrieval.chunking.chunks import Chunk, RetrievedChunk

QUESTION = Question("q", "What is it?")


def _chunk(number: int, text: str) -> PromptChunk:
    return PromptChunk(number, RetrievedChunk(Chunk(f"d{number}", 0, len(text), text), 1.0, number), 0, len(text))


def _verify(items: Sequence[VerificationItem]) -> list[list[Verdict]]:
    """Support a sentence if all its words occur in the chunks shown; "?" cannot be judged."""
    verdicts = []
    for item in items:
        (claim,) = item.claims
        words = {word for chunk in item.shown for word in chunk.text.split()}
        if "?" in claim.text:
            verdicts.append([Verdict(claim, "unscored", None, "cannot tell", (), "words")])
            continue
        supported = set(claim.text.strip(".").split()) <= words
        verdicts.append(
            [Verdict(claim, "supported" if supported else "unverifiable", float(supported), "", (), "words")]
        )
    return verdicts


def _judged(text: str, chunks: Sequence[str]) -> tuple[JudgedSentence, ...]:
    shown = tuple(_chunk(n, t) for n, t in enumerate(chunks, start=1))
    claims, at = [], 0
    for sentence in text.split("|"):
        bare = sentence.split("[")[0].strip()
        start = text.index(bare, at)
        claims.append(Claim(bare, start, start + len(bare)))
        at = start + len(bare)
    sentences = cited_sentences(claims, find_citations(text, len(chunks)))
    return judge_citations([AnswerToJudge(0, QUESTION, text, sentences, shown)], _verify)[0]


@pytest.mark.parametrize(
    ("text", "chunks", "recalled", "precise", "needless", "wrong"),
    [
        ("a b [1]", ("a b c",), True, (1,), (), ()),
        ("a b [1]", ("a c",), False, (), (), (1,)),
        ("a b", ("a b",), False, (), (), ()),
        ("a b [1][2]", ("a", "b"), True, (1, 2), (), ()),  # supported only by both together: neither is irrelevant
        ("a b [1][2]", ("a b", "c"), True, (1,), (2,), ()),  # 2 alone does not support it, and 1 does without it
        ("a b [1][2]", ("a b", "a b"), True, (1, 2), (), ()),  # each alone supports it
        ("a b [1][2]", ("a", "c"), False, (), (), (1, 2)),
        ("a b [1][1]", ("a b",), True, (1,), (), ()),
        ("what ? [1]", ("a",), None, (), (), ()),
    ],
)
def test_definitions(
    text: str,
    chunks: tuple[str, ...],
    recalled: bool | None,
    precise: tuple[int, ...],
    needless: tuple[int, ...],
    wrong: tuple[int, ...],
) -> None:
    (one,) = _judged(text, chunks)
    assert (one.recalled, one.precise, one.needless, one.wrong) == (recalled, precise, needless, wrong)


def test_citations_belong_to_the_sentence_they_follow() -> None:
    first, second = _judged("a b [1] | c d [2]", ("a b", "c d"))
    assert (first.numbers, second.numbers) == ((1,), (2,))
    assert first.recalled
    assert second.recalled


def test_figures_of_an_arm() -> None:
    answers = [
        ("q1", 0, _judged("a b [1] | c d", ("a b",))),
        ("q2", 0, _judged("a b [1][2]", ("a b", "c"))),
        ("q3", 0, _judged("e [1]", ("a",))),
        ("q4", 0, _judged("x ? [1]", ("a",))),
    ]
    found = arm_citations("rag", answers, Resampler(Settings(bootstrap=100, permutations=99)))
    assert (found.answers, found.sentences, found.citations, found.unscored) == (4, 4, 4, 1)
    assert found.recall.rate == pytest.approx(2 / 4)
    assert found.precision.rate == pytest.approx(2 / 4)
    assert (found.wrong, found.missing, found.needless) == (1, 1, 1)
    assert [fault.fault for fault in found.faults] == ["wrong", "missing", "needless"]
    assert found.recall.lower is not None
    assert found.recall.lower < 0.5


def test_an_arm_without_citations_has_no_precision() -> None:
    found = arm_citations("rag", [("q", 0, _judged("a", ("a",)))], Resampler(Settings(bootstrap=100, permutations=99)))
    assert found.precision.rate is None
    assert found.precision.reason
    assert found.recall.rate == 0.0
