"""The report's sections on citations and on where the rate comes from."""

from __future__ import annotations

import re
from dataclasses import replace

from evaluation.citations.figures import ArmCitations, FaultyCitation
from evaluation.reports.report import render_report, template_environment
from evaluation.robustness.breakdown import ArmBreakdown, Row
from evaluation.robustness.repeated import PassRate
from evaluation.statistics.estimates import HallucinationEstimate, undefined
from tests.evaluation.test_first_screen import report

RATE = HallucinationEstimate(0.25, 0.1, 0.5, 0.95, 4, 4, 1, 3, "effective_clopper_pearson")


def _part(name: str, arms: object) -> str:
    template = template_environment().get_template("breakdown.html.j2")
    return str(getattr(template.module, name)(arms, "95 %"))


def test_rates_and_repeated_samples_are_shown_and_escaped() -> None:
    row = Row("<b>kind</b>", 4, 8, RATE, undefined(0.95, "nothing to divide by"))
    html = _part("breakdown_part", (ArmBreakdown("rag", (row, row), (row,), (row,), (PassRate(2, RATE, 4),)),))
    assert "25.0" in html
    assert "nothing to divide by" in html
    assert "&lt;b&gt;kind" in html
    assert "pass^k" in html


def test_nothing_is_shown_where_there_is_nothing() -> None:
    assert _part("breakdown_part", (ArmBreakdown("rag", (), (), (), ()),)).strip() == ""
    assert _part("breakdown_part", ()).strip() == ""
    assert _part("citations_part", ()).strip() == ""


def test_citations_are_listed() -> None:
    faults = (
        FaultyCitation("wrong", "q1", 0, "It <i>is</i>.", (1, 3)),
        FaultyCitation("missing", "q2", 1, "So it was.", ()),
    )
    html = _part("citations_part", (ArmCitations("rag", 4, 8, 8, 1, RATE, RATE, 2, 1, 0, faults),))
    assert "wrong [1] [3], question q1, sample 1" in html
    assert "missing, question q2, sample 2" in html
    assert "&lt;i&gt;" in html


def test_the_contents_link_the_sections_that_are_there() -> None:
    bare = report({"rag": ["hallucinated", "supported"] * 20})
    assert not {"#breakdown", "#citations"} & set(re.findall(r'href="(#\w+)"', render_report(bare)))
    row = Row("number", 4, 8, RATE, RATE)
    full = replace(
        bare,
        breakdown=(ArmBreakdown("rag", (row, row), (), (), ()),),
        citations=(ArmCitations("rag", 4, 8, 8, 1, RATE, RATE, 2, 1, 0, ()),),
    )
    page = render_report(full)
    for name in ("breakdown", "citations"):
        assert page.count(f'href="#{name}"') == page.count(f'id="{name}"') == 1
