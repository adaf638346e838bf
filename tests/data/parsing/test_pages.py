"""Text of web pages: superscripts, cells, formulas, hidden text, the main part, and unclosed elements."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from data.documents import Document
from data.loaders import Refused

Read = Callable[..., list[Document | Refused]]
One = Callable[[list[Document | Refused]], Document]


def text(here: Read, source: str) -> str:
    [document] = [item for item in here("a.html", source) if isinstance(item, Document)]
    return document.text


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("2<sup>64</sup> keys", "2^64 keys"),
        ("10<sup>-6</sup> m", "10^-6 m"),
        ("40 m<sup>2</sup>", "40 m^2"),
        ("x<sup>n+1</sup>", "x^(n+1)"),
        ("3,400<sup>1</sup> litres", "3,400 [1] litres"),
        ("in 2019<sup>4</sup>", "in 2019 [4]"),
        ("the pump<sup>3</sup> and", "the pump [3] and"),
        ("It ends.<sup>12</sup> Then", "It ends. [12] Then"),
        ("price 7<sup><a href='#n5'>5</a></sup> net", "price 7 [5] net"),
        ("Wikipedia<sup>[3]</sup> says", "Wikipedia[3] says"),
        ("the 4<sup>th</sup> of May", "the 4th of May"),
        ("H<sub>2</sub>SO<sub>4</sub> and Ca(OH)<sub>2</sub>", "H2SO4 and Ca(OH)2"),
        ("x<sub>1</sub> is a<sub>max</sub>", "x_1 is a_max"),
        ("log<sub>2</sub> n", "log_2 n"),
        ("2<sup>1</sup>/<sub>2</sub> cups", "2 1/2 cups"),
        ("<sup>3</sup>&frasl;<sub>4</sub>", "3⁄4"),
        ("<sup>14</sup>C dating", "14C dating"),
        ("10<sup>3", "10^3"),
    ],
)
def test_raised_and_lowered_text_makes_no_other_number(here: Read, source: str, shown: str) -> None:
    assert text(here, f"<p>{source}") == shown


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ("<tr><td>a<td>b<td>c<tr><td>d<td><td>e", "a\tb\tc\nd\t\te"),
        ("<tr><td>a<td>b<tr><td><td>e", "a\tb\n\te"),
        ("<tr><td><td>b<tr><td>c<td>d", "\tb\nc\td"),
        ("<tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e", "a\t\tb\nc\td\te"),
        ("<tr><td rowspan=2>a<td>b<tr><td>c", "a\tb\n\tc"),
        ("<tr><td>a<td><p>b</p><p>c</p><td>d", "a\tb\n\nc\td"),
    ],
)
def test_empty_cells_hold_their_column(here: Read, rows: str, shown: str) -> None:
    assert text(here, f"<table>{rows}</table>") == shown


def test_a_table_in_a_cell_keeps_the_columns_around_it(here: Read) -> None:
    found = text(here, "<table><tr><td>a<td><table><tr><td>x<td><td>y</table><td>d<tr><td><td>e</table>")
    assert "x\t\ty" in found
    assert found.endswith("\td\n\te")


def test_spans_without_measure_cost_little(here: Read) -> None:
    found = text(here, "<table>" + "<tr><td colspan=99999 rowspan=99999>a<td>b" * 50 + "</table>")
    assert len(found) < 200_000


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a+b)/2"),
        ("<msup><mi>x</mi><mn>2</mn></msup>", "x^2"),
        ("<msub><mi>x</mi><mi>i</mi></msub>", "x_i"),
        ("<msqrt><mn>2</mn></msqrt>", "√(2)"),
        ("<semantics><mi>E</mi><annotation>\\TeX</annotation></semantics>", "E"),
        ("<mi>E</mi>\n <mo>=</mo>\n <mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>", "E = mc^2"),
    ],
)
def test_formulas_are_text(here: Read, markup: str, shown: str) -> None:
    assert text(here, f"<p>Here <math>{markup}</math> ends.") == f"Here {shown} ends."


@pytest.mark.parametrize("opening", ["<svg><path d='m'>", "<svg><text>x", "<math><mi>x"])
def test_the_page_goes_on_behind_what_was_never_closed(here: Read, opening: str) -> None:
    assert text(here, f"<div>{opening}<p>The pump</p>").endswith("The pump")


@pytest.mark.parametrize(
    "attributes",
    [
        "hidden",
        "style='display: none'",
        "style='DISPLAY:NONE !important'",
        "style='visibility:hidden'",
        "style='font-size:0px'",
        "style='font-size: 0'",
        "style='opacity:0'",
        "style='color:#fff'",
        "style='color: rgb(255, 255, 255); background: white'",
        "style='color:#123456;background-color:#123456'",
    ],
)
def test_hidden_text_is_left_out_and_counted(here: Read, attributes: str) -> None:
    items = here("a.html", f"<p>Shown.</p><div {attributes}><b>secret</b> <br><p>words</div><p>Shown too.</p>")
    [document] = [item for item in items if isinstance(item, Document)]
    [expected] = [item for item in items if isinstance(item, Refused)]
    assert document.text == "Shown.\n\nShown too."
    assert (expected.kind, expected.reason.split()[0]) == ("note", "11")


@pytest.mark.parametrize(
    "source",
    [
        "<div style='background:#003366'><span style='color:white'>Shown</span></div>",
        "<table bgcolor=black><tr><td style='color:#ffffff'>Shown</table>",
        "<p style='font-size:0.9em'>Shown",
        "<p hidden>no<p>Shown",
        "<ul><li hidden>no<li>Shown</ul>",
        "<div><p style='display:none'>no</div>Shown",
        "<input hidden>Shown",
    ],
)
def test_what_is_shown_is_kept(here: Read, source: str) -> None:
    assert text(here, source) == "Shown"


def test_stray_ends_show_nothing_hidden(here: Read) -> None:
    assert text(here, "<p>Shown</p><div hidden></span></b>secret</div>") == "Shown"


def test_a_page_whose_text_is_all_hidden_is_refused(here: Read) -> None:
    [item] = here("a.html", "<div hidden>secret</div>")
    assert isinstance(item, Refused)
    assert item.kind == "file"


MAIN = "The pump is delivered with a filter, and spare parts for it are sold apart from it in two sizes."


@pytest.mark.parametrize("tag", ["main", "div role=main", 'div role="main" class=body'])
def test_of_a_page_with_a_main_part_only_that_is_read(here: Read, tag: str) -> None:
    name = tag.split()[0]
    page = (
        f"<nav>Home</nav><div>Menu<div>More</div></div><{tag}><nav>Breadcrumb</nav><div>{MAIN}</div>"
        f"<h2>Parts<a class=headerlink href='#parts'>¶</a></h2></{name}><footer>Imprint</footer>"
    )
    assert text(here, page) == f"{MAIN}\n\nParts"


def test_without_a_main_part_or_with_an_empty_one_all_is_read(here: Read) -> None:
    assert text(here, "<nav>Home</nav><p>Pump") == "Home\n\nPump"
    assert text(here, "<nav>Home</nav><main></main><p>Pump") == "Home\n\nPump"


@pytest.mark.parametrize(
    ("expected", "shown"), [("Works without scripts.", "Works without scripts."), ("Please enable JavaScript.", "")]
)
def test_noscript_is_text_unless_it_only_asks_for_scripts(here: Read, expected: str, shown: str) -> None:
    assert text(here, f"<p>A</p><noscript><p>{expected}</p></noscript>") == f"A\n\n{shown}".strip()


@pytest.mark.drill
@pytest.mark.parametrize(
    "source",
    [
        "<math>" + "<mrow>" * 5000 + "<mi>x",
        "<table><tr><td>a" * 3000,
        "<table>" + "<tr>" + "<td rowspan=9999>a" * 3000 + "<tr><td>b" * 3000,
        "<div hidden>" + "<b>" * 20_000 + "x",
        f"<p style='{'/*' * 50_000}'>x",
        "<sup>" * 5000 + "x",
    ],
)
def test_shapes_that_invite_quadratic_work_end_soon(here: Read, source: str) -> None:
    started = time.process_time()
    assert len(here("a.html", source)) <= 2
    assert time.process_time() - started < 20
