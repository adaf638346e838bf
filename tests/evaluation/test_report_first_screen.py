"""The HTML report opens with the first screen that the terminal and Markdown have; settings and ids are collapsed."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

from evaluation.analysis.abstentions import Abstentions
from evaluation.outcomes import Outcome
from evaluation.reports.first_screen import first_screen
from evaluation.reports.report import render_report
from evaluation.reports.report_data import ScoredFigures
from evaluation.reports.terms import arm_meaning
from tests.evaluation.test_first_screen import report

HALF: list[Outcome] = ["hallucinated", "supported"] * 20


def test_the_page_opens_with_the_shared_first_screen() -> None:
    data = report({"closed_book": ["hallucinated"] * 40, "rag": HALF})
    screen, page = first_screen(data), unescape(render_report(data))
    first = page[page.index('<section class="first"') : page.index("</section>")]
    assert screen.headline in first and screen.comparison in first
    assert all(f"<dt>{name}</dt><dd>{value}</dd>" in first for name, value in screen.measured)
    assert screen.next_steps and all(step.text in first for step in screen.next_steps)
    assert page.index("</section>") < page.index("<table")


def test_arms_and_words_are_explained_where_they_stand() -> None:
    data = report({"rag": HALF, "oracle": HALF})
    page = unescape(render_report(data))
    table = page[page.index('<table class="rates">') : page.index("</table>")]
    assert arm_meaning("rag") in table and arm_meaning("oracle") in table
    for word in ("abstained", "unscored"):
        assert f"<dt>{word}</dt>" in page and f'">{word}</abbr>' in table
    assert "<dt>fixed</dt>" in page and "<dt>broken</dt>" in page and "<dt>unresponsive</dt>" not in page
    odd = replace(data, abstentions=(Abstentions("rag", 40, 0, 0, 0, 0, 40, supported=20, unresponsive=1),))
    assert "<dt>unresponsive</dt>" in render_report(odd)


def test_limits_settings_and_ids_are_in_a_closed_section() -> None:
    page = render_report(report({"rag": HALF}))
    more = page.index('<details class="more">')
    assert more < page.index('id="notes"') < page.index('id="repeat"') < page.index("</details>\n</main>")
    assert page.count('href="#notes"') == 1


def test_a_rate_with_unscored_answers_is_one_of_the_scored_with_both_bounds() -> None:
    lost: list[Outcome] = ["unscored"] * 20
    data = report({"rag": HALF[:20] + lost}, "no evidence was found")
    headline = first_screen(data).headline
    assert "50.0 % of 20 scored answers" in headline and "20 unscored" in headline
    assert "25.0 %" in headline and "75.0 %" in headline and headline in unescape(render_report(data))
    nothing = first_screen(report({"rag": lost})).headline
    assert "undefined" in nothing and "0.0 %" not in nothing


def test_answers_from_elsewhere_name_what_was_measured() -> None:
    data = replace(report({"rag": HALF}), scored=ScoredFigures("faithfulness", "contexts"))
    assert "faithfulness, judged by the contexts" in dict(first_screen(data).measured)["measure"]
    labels = replace(data, scored=ScoredFigures("factuality", "labels"))
    assert "people's labels" in dict(first_screen(labels).measured)["measure"]
