"""The report: complete, escaped, self-contained, written whole or not at all."""

from __future__ import annotations

import dataclasses
import html.parser
import re
from pathlib import Path

import pytest

from evaluation.errors import EvaluationError
from evaluation.outcomes import Claim, Evidence, Outcome, Verdict
from evaluation.reports.answer_view import pieces
from evaluation.reports.plots import Bar, chart
from evaluation.reports.report import render_report, write_report
from evaluation.reports.report_data import (
    ConfigSection,
    ReportArm,
    ReportChunk,
    ReportData,
    ReportQuestion,
    ReportSample,
    RunConfig,
)
from evaluation.reports.report_view import build_view, interval, percent
from evaluation.statistics.counts import OutcomeRecord, OutcomeTable
from evaluation.statistics.measure import Settings
from evaluation.statistics.summary import summarise
from generation.completion import Citation

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"&{{ 7*7 }}\x00\x1b[31m\ud800]]>"


class Page(html.parser.HTMLParser):
    """Collects tags, ids, links and attributes; void tags aside, every tag must be closed in order."""

    void = frozenset({"meta", "input", "br", "hr", "img", "link", "rect", "line", "path", "circle"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.void:
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "action"):
                self.links.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.void:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


def sample(text: str, outcome: Outcome, cite: bool = False) -> ReportSample:
    claim = Claim(text, 0, len(text))
    label = "supported" if outcome == "supported" else "contradicted"
    verdict = Verdict(claim, label, 0.5, text, (Evidence(None, 0, 2, text), Evidence(text, 0, 2, text)), text)
    citations = (Citation(1, text.index("[1]"), text.index("[1]") + 3),) if cite else ()
    return ReportSample(0, text, outcome, 17, "", () if outcome == "abstained" else (verdict,), citations)


def report_data(word: str = "plain", same: bool = True) -> ReportData:
    """Two questions in two arms, with `word` in every text that comes from outside."""
    outcomes: dict[tuple[str, str], Outcome] = {
        (f"one {word}", f"closed_book {word}"): "hallucinated",
        (f"one {word}", f"rag {word}"): "supported",
        (f"two {word}", f"closed_book {word}"): "abstained",
        (f"two {word}", f"rag {word}"): "hallucinated",
    }
    records = [OutcomeRecord(q, arm, 0, outcome) for (q, arm), outcome in outcomes.items()]
    chunk = ReportChunk(1, f"doc {word}", f"title {word}", 3, 9, f"chunk {word}", 1, 0.25)
    questions = tuple(
        ReportQuestion(
            q,
            f"asked {q}",
            f"kind {word}",
            q.startswith("one"),
            (f"reference {word}",) if q.startswith("one") else (),
            tuple(
                ReportArm(
                    arm,
                    (sample(f"said {word} [1]", outcomes[q, arm], cite=arm.startswith("rag")),),
                    (chunk,) if arm.startswith("rag") else (),
                )
                for arm in (f"closed_book {word}", f"rag {word}")
            ),
        )
        for q in (f"one {word}", f"two {word}")
    )
    config = RunConfig(
        f"title {word}",
        "2026-01-02T03:04:05Z",
        f"plumbline evaluate {word}",
        f"searched {word}",
        f"searched {word}" if same else None,
        (ConfigSection(f"section {word}", ((f"name {word}", f"value {word}"),)),),
    )
    summary = summarise(
        OutcomeTable.from_records(records), f"closed_book {word}", settings=Settings(bootstrap=100, permutations=99)
    )
    return ReportData(config, summary, questions, (f"note {word}",))


def test_the_page_is_well_formed_and_every_link_has_its_target() -> None:
    page = Page(render_report(report_data()))
    assert len(set(page.ids)) == len(page.ids)
    assert page.links, "a report without links cannot lead to its answers"
    for link in page.links:
        assert link.startswith("#") and link[1:] in page.ids
    assert {"q1", "q2", "q1-a1-chunk-1"} <= set(page.ids)
    assert page.tags.count("script") == 1 and page.tags.count("style") == 1
    assert page.tags.count("caption") == page.tags.count("table")


def test_hostile_text_stays_text_everywhere() -> None:
    text = render_report(report_data(HOSTILE))
    plain, hostile = Page(render_report(report_data())), Page(text)
    assert hostile.tags == plain.tags
    assert hostile.attributes == plain.attributes
    assert "alert(1)</script>" not in text and "<img" not in text
    assert "&lt;img src=x onerror=alert(2)&gt;" in text and "{{ 7*7 }}" in text
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", text)


def test_nothing_is_loaded_and_the_policy_names_the_inline_parts() -> None:
    text = render_report(report_data())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "default-src &#39;none&#39;" in policy[1] and "unsafe" not in policy[1]
    assert policy[1].count("sha256-") == 2
    assert "http://" not in text and "https://" not in text and "@import" not in text and "url(" not in text
    page = Page(text)
    assert "style" not in page.attributes and not any(a.startswith("on") for a in page.attributes)


def test_it_says_what_it_must() -> None:
    text = render_report(report_data())
    for expected in (
        "questions like these",
        "too high",
        "selected these",
        "plumbline evaluate plain",
        "note plain",
    ):
        assert expected in text
    assert "against the same collection that is searched" in text
    other = render_report(report_data(same=False))
    assert (
        "against the same collection that is searched" not in other and "reference answers of the question set" in other
    )


def test_worst_first_and_the_changes_lead_to_the_answers() -> None:
    view = build_view(report_data())
    assert [q.question.id for q in view.questions] == ["two plain", "one plain"]
    assert view.questions[0].broken == 1.0 and view.questions[1].fixed == 1.0
    assert [c.anchor for c in view.pairs[0].changes] == ["q2", "q1"]


def test_a_run_without_pairs_answers_or_numbers_still_renders() -> None:
    records = [OutcomeRecord("a", "rag", 0, "abstained")]
    data = dataclasses.replace(
        report_data(), summary=summarise(OutcomeTable.from_records(records), settings=Settings()), questions=()
    )
    text = render_report(data)
    Page(text)
    assert "undefined" in text and "nan" not in text.lower().replace("name", "")


def test_rendering_is_repeatable_and_writing_leaves_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(path, report_data(HOSTILE))
    assert path.read_text(encoding="utf-8") == render_report(report_data(HOSTILE))
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"missing.report\.html"):
        write_report(tmp_path / "missing" / "report.html", report_data())


def test_a_failed_write_keeps_the_old_report(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.mkdir()
    with pytest.raises(EvaluationError, match="write"):
        write_report(path, report_data())
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_pieces_join_to_the_answer_whatever_the_offsets() -> None:
    verdict = Verdict(Claim("x", 2, 900), "contradicted", 0.0, "", (), "v")
    shown = ReportSample(0, "ab [1] cd", "hallucinated", 0, "", (verdict,), (Citation(1, 3, 6), Citation(7, -4, 2)))
    cut = pieces(shown, {1: "here"})
    assert "".join(p.text for p in cut) == "ab [1] cd"
    assert [p.anchor for p in cut if p.text == "[1]"] == ["here"]
    assert pieces(ReportSample(0, "", "abstained", 0), {}) == ()


def test_numbers_as_people_read_them() -> None:
    assert percent(None) == "undefined" and percent(0.0) == "0.0 %" and percent(0.0001) == "<0.1 %"
    assert percent(-0.123, signed=True) == "−12.3 %" and percent(0.5, signed=True) == "+50.0 %"
    arm = report_data().summary.arms[0]
    assert interval(arm.hall_answered.default).startswith("[")


def test_charts_stay_on_their_axis() -> None:
    estimate = report_data().summary.pairs[0].difference.default
    plot = chart([Bar("difference", "difference", estimate, "")], -0.1, 0.1, (0.0,))
    assert all(plot.ticks[0].x - 200 <= x <= plot.width for x in (plot.rows[0].lower, plot.rows[0].upper))
    with pytest.raises(ValueError, match=r"low.*high"):
        chart([], 1.0, 0.0, ())


def test_a_question_given_twice_is_refused() -> None:
    data = report_data()
    with pytest.raises(EvaluationError, match="twice"):
        dataclasses.replace(data, questions=data.questions * 2)
