"""Prepare the answers of one arm to one question for display: group samples, and cut text into marked pieces."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from evaluation.outcomes import OUTCOMES, Outcome
from evaluation.reports.report_data import ReportArm, ReportChunk, ReportSample


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A span of an answer.

    label: label of the claim that contains it; "" for none.
    anchor: anchor of the chunk that it cites; "" for none.
    weak: whether it is a word without which the evidence would support its claim more.
    """

    text: str
    label: str
    anchor: str
    weak: bool = False

    @property
    def style(self) -> str:
        """Class names for the style sheet."""
        return f"{self.label} weak".strip() if self.weak else self.label


@dataclass(frozen=True, slots=True)
class AnswerView:
    """Samples with the same text, outcome and verdicts, which are shown once.

    samples: numbers of the samples, from 1. count: number of samples. seeds: seeds of the samples.
    sample: the first of them. pieces: its text, cut where marks begin and end.
    """

    samples: str
    count: int
    seeds: str
    sample: ReportSample
    pieces: tuple[TextSpan, ...]


@dataclass(frozen=True, slots=True)
class ChunkView:
    """A chunk. anchor: anchor to which citations link. cited: whether any sample cites it."""

    anchor: str
    chunk: ReportChunk
    cited: bool


@dataclass(frozen=True, slots=True)
class ArmView:
    """One arm's column.

    counts: number of samples by outcome, for outcomes that occur.
    question_text: the arm's text for the question; "" if it is the original.
    """

    arm: str
    counts: tuple[tuple[Outcome, int], ...]
    answers: tuple[AnswerView, ...]
    chunks: tuple[ChunkView, ...]
    question_text: str = ""


def pieces(sample: ReportSample, anchors: dict[int, str]) -> tuple[TextSpan, ...]:
    """Cut the answer where claims, citations and weak words begin and end. Offsets outside the text are clipped.

    anchors: anchor of each chunk by its number.
    """
    text = sample.text
    spans = [(v.claim.start, v.claim.end, v.label) for v in sample.verdicts]
    cuts = {0, len(text)}
    for start, end, _ in spans:
        cuts |= {min(max(start, 0), len(text)), min(max(end, 0), len(text))}
    inner = [(c.start, c.end) for c in sample.citations] + [(w.start, w.end) for w in sample.weak]
    for start, end in inner:
        cuts |= {min(max(start, 0), len(text)), min(max(end, 0), len(text))}
    edges = sorted(cuts)
    result = []
    for start, end in pairwise(edges):
        label = next((name for s, e, name in spans if s <= start and end <= e), "")
        anchor = next((anchors.get(c.number, "") for c in sample.citations if c.start <= start and end <= c.end), "")
        weak = any(w.start <= start and end <= w.end for w in sample.weak)
        result.append(TextSpan(text[start:end], label, anchor, weak))
    return tuple(result)


def arm_view(arm: ReportArm, prefix: str) -> ArmView:
    """Create the view of an arm. prefix: prefix of the anchors of its chunks."""
    anchors = {c.number: f"{prefix}-chunk-{c.number}" for c in arm.chunks}
    cited = {c.number for s in arm.samples for c in s.citations}
    groups: dict[tuple[object, ...], list[ReportSample]] = {}
    for sample in arm.samples:
        key = (sample.text, sample.outcome, sample.reason, sample.verdicts, sample.weak, sample.label, sample.observed)
        groups.setdefault(key, []).append(sample)
    answers = tuple(
        AnswerView(
            ", ".join(str(s.sample + 1) for s in same),
            len(same),
            ", ".join(str(s.seed) for s in same if s.seed is not None),
            same[0],
            pieces(same[0], anchors),
        )
        for same in groups.values()
    )
    tally = ((o, sum(s.outcome == o for s in arm.samples)) for o in OUTCOMES)
    return ArmView(
        arm.arm,
        tuple((o, n) for o, n in tally if n),
        answers,
        tuple(ChunkView(anchors[c.number], c, c.number in cited) for c in arm.chunks),
        arm.question_text,
    )
