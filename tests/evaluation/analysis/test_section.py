"""Rendering of the report's sections on the analyses of a run."""

from __future__ import annotations

import re
from types import SimpleNamespace

from data.questions import Question
from evaluation.analysis.cached_entailment import CachedEntailment
from evaluation.analysis.run_analysis import FurtherVerification, RunAnalysis, analyse
from evaluation.reports.analysis_view import analysis_view
from evaluation.reports.report import template_environment
from evaluation.runs.records import ObservedEvent
from evaluation.runs.run_config import Decoding
from evaluation.statistics.measure import Settings
from retrieval.chunking.chunks import Chunk

GREEDY = Decoding(temperature=0.0)
HOSTILE = "<script>alert(1)</script>"


def everything(desk: SimpleNamespace, overlap: type) -> RunAnalysis:
    """Return a run with content in every section; the arm's name and a reason contain markup."""
    arm = f"rag+{HOSTILE}"
    made = []
    for i in range(12):
        bad = ["unverifiable", "unverifiable", "supported", "supported"] if i % 3 == 0 else ["supported"] * 4
        chunks = (Chunk("d", 0, 5, "Paris"),) if i % 2 else ()
        for n in range(2):
            seen = (ObservedEvent("obeyed", None if n else True, "x", HOSTILE if n else ""),)
            made.append(desk.sample(f"q{i}", bad[n:] + bad[:n], arm=arm, number=n, chunks=chunks, observed=seen))
        made.append(desk.answer(f"q{i}", "hallucinated" if i % 3 == 0 else "supported", arm=arm, decoding=GREEDY))
        made.append(desk.answer(f"q{i}", "abstained", arm="closed_book"))
        made.append(desk.answer(f"q{i}", "supported", arm="closed_book", decoding=GREEDY))
    questions = [Question(f"q{i}", "Where?", relevant_document_ids=("d",)) for i in range(12)]
    faithful = {(r.question_id, r.arm, r.decoding, r.sample): "supported" for r in made if r.chunks}
    config = desk.config(("closed_book", arm), 2, (GREEDY,))
    closer = FurtherVerification(CachedEntailment(overlap(), 0.9), faithful, "overlap")
    return analyse(config, made, questions, (("closed_book", arm),), Settings(bootstrap=400, permutations=199), closer)


def rendered(found: RunAnalysis) -> str:
    page = '{% from "analysis.html.j2" import analysis_links, analysis_parts %}'
    page += '{{ analysis_links(a) }}{{ analysis_parts(a, "95 %") }}'
    return template_environment().from_string(page).render(a=analysis_view(found))


def test_every_section_is_there_and_linked(desk: SimpleNamespace, overlap: type) -> None:
    found = everything(desk, overlap)
    text = rendered(found)
    sections = re.findall(r'<h2 id="(\w+)"', text)
    assert sections == ["grid", "observed", "retrieval", "drift", "calibration", "signals"]
    assert re.findall(r'href="#(\w+)"', text) == sections
    assert "not shown" in text and "at rank 1" in text
    assert "faithful" in text and "overlap/60 &gt;=0.9" in text
    drift = next(d.found for d in found.drift if d.found is not None)
    assert drift.summary.split(" (p =")[0].replace("'", "&#39;") in text
    assert "every response has at most one claim" in text  # of closed_book, which abstained
    assert not re.search(r"\b(nan|None)\b", re.sub(r"<[^>]*>", " ", text))


def test_text_from_outside_is_escaped(desk: SimpleNamespace, overlap: type) -> None:
    text = rendered(everything(desk, overlap))
    assert HOSTILE not in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 5


def test_charts_stay_inside_their_frame(desk: SimpleNamespace, overlap: type) -> None:
    for _, named in analysis_view(everything(desk, overlap)).charts:
        chart = named.chart
        for series in chart.series:
            for pair in f"{series.line} {series.band}".split():
                x, y = map(float, pair.split(","))
                assert chart.left <= x <= chart.right
                assert chart.top <= y <= chart.bottom
