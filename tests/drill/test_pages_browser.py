"""The pages of collections and evaluations in a browser: upload, watch a job, open a report, label answers; by
keyboard, light and dark."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from model.reader.prefix_decoder import save_prefix_decoder, warm_start
from tests.drill.browser import browser, picture

pytestmark = [pytest.mark.drill, pytest.mark.serial]  # one server for all tests, in their order

HOSTILE = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title='taken'\">"
_WAIT_MS = 300_000


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a ``plumbline serve`` with its worker, on an empty home."""
    folder = tmp_path_factory.mktemp("pages")
    save_prefix_decoder(warm_start(0), folder / "reader", {})
    with serving(folder, "--model", str(folder / "reader")) as url:
        yield url


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[str]:
    ours = {key: value for key, value in os.environ.items() if not key.startswith("PLUMBLINE_")}
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--home", str(folder / "home"), *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**ours, "OMP_NUM_THREADS": "1"})
    assert process.stderr is not None
    try:
        for line in process.stderr:
            found = re.search(r"serving (http://\S+)", line)
            if found:
                break
        else:
            raise AssertionError("the server ended")
        # What it says from now on is not read by us; it must not wait for us to.
        drain = subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
        yield found[1]
        process.terminate()
        assert process.wait(_WAIT_MS / 1000) == 0
        drain.wait(_WAIT_MS / 1000)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def opened(chromium: Browser, scheme: str = "light") -> Page:
    page = chromium.new_page(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_default_timeout(_WAIT_MS)
    expect.set_options(timeout=_WAIT_MS)
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda expected: troubles.append(expected.text) if expected.type == "error" else None)
    page.__dict__["troubles"] = troubles
    return page


def test_documents_are_uploaded_and_their_job_is_watched(chromium: Browser, server: str, tmp_path: Path) -> None:
    (tmp_path / "warranty.md").write_text("# Warranty\n\nThe warranty of the Heron 4 lasts for three years.\n")
    (tmp_path / "hostile.txt").write_text(HOSTILE)
    (tmp_path / "program.exe").write_bytes(b"MZ")
    page = opened(chromium)
    page.goto(f"{server}/collections")
    page.get_by_label("Name").fill("handbook")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{server}/collections/handbook")
    page.get_by_label("Files").set_input_files(sorted(tmp_path.iterdir()))
    page.get_by_role("button", name="Upload").press("Enter")
    expect(page.locator("[data-following]")).to_be_visible()
    picture(page, "collection-indexing")
    expect(page.get_by_text("succeeded")).to_be_visible()  # by itself: nobody pressed anything
    expect(page.get_by_role("row", name="warranty.md")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("program.exe.*not read"))).to_be_visible()
    assert page.title() == "handbook · Plumbline"
    picture(page, "collection")
    assert page.__dict__["troubles"] == []
    # What the hostile document says is shown as it was written.
    found = page.request.post(
        f"{server}/v1/retrieve", data={"query": "script document title", "collection": "handbook", "k": 2}
    )
    assert any(HOSTILE in one["text"] for one in found.json()["data"])
    page.goto(f"{server}/")
    page.locator("#question").fill("What does the script say of the title?")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_text("document.title = 'taken'").first).to_be_visible()
    assert "taken" not in page.title()
    page.close()


def test_an_evaluation_is_started_watched_and_its_report_opened(chromium: Browser, server: str, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    rows = [{"id": f"q{n}", "text": f"How long is warranty {n}?", "references": ["three years"]} for n in range(12)]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = opened(chromium, "dark")
    for name in ("first try", "second try"):
        page.goto(f"{server}/evaluations")
        page.get_by_label("Name").fill(name)
        page.get_by_label("Question file (.jsonl)").set_input_files(questions)
        page.get_by_label("Answers per question").fill("1" if name == "first try" else "2")
        page.get_by_label("the model alone").check()
        page.get_by_label("with the right documents").uncheck()
        page.get_by_role("button", name="Start evaluation").press("Enter")
        expect(page.locator("[data-following]").first).to_be_visible()
        expect(page.locator("[data-following]")).to_have_count(0)
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    picture(page, "evaluations-dark")
    page.get_by_label("first try as the first run to compare").check()
    page.get_by_label("second try as the second run to compare").check()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("12 questions are shared and compared").first).to_be_visible()
    page.goto(f"{server}/evaluations")
    page.get_by_role("link", name="first try", exact=True).click()
    expect(page.get_by_role("row", name=re.compile("closed_book"))).to_be_visible()
    picture(page, "evaluation-dark")
    page.get_by_role("link", name="Open report", exact=True).click()
    expect(page.get_by_text("How long is warranty 3?").first).to_be_visible()
    assert page.__dict__["troubles"] == []
    page.close()


def test_five_answers_are_labelled_and_a_disagreement_is_settled(chromium: Browser, server: str) -> None:
    page = opened(chromium)
    page.goto(f"{server}/evaluations")
    page.get_by_role("link", name="Label answers of first try").press("Enter")
    page.get_by_label("Number of questions to label").fill("6")
    page.get_by_role("button", name="Draw").press("Enter")
    for name, keys in (("ann", "shash"), ("bo", "shas")):
        page.get_by_label("Your name").fill(name)
        page.get_by_role("button", name="Start labelling").press("Enter")
        for number, key in enumerate(keys, start=1):
            pressed(page, f"Question {number} of 12", key)
        expect(page.get_by_text(f"Question {len(keys) + 1} of 12")).to_be_visible()
        assert all_controls_are_reached(page) >= 4
        if name == "ann":
            pressed(page, "Question 6 of 12", "b")
            expect(page.get_by_role("button", name="hallucinated")).to_have_attribute("aria-pressed", "true")
            picture(page, "label")
        page.get_by_role("link", name="Progress and agreement").press("Enter")
        expect(page.get_by_text("5 of 12 answers have a label")).to_be_visible()
    page.get_by_label("Your name").fill("bo")
    page.get_by_role("button", name="Start labelling").press("Enter")
    pressed(page, "Question 5 of 12", "s")  # ann said h
    expect(page.get_by_text("Question 6 of 12")).to_be_visible()
    page.emulate_media(color_scheme="dark")
    page.get_by_role("link", name="Progress and agreement").press("Enter")
    expect(page.get_by_text("Cohen's kappa of ann and bo")).to_be_visible()
    picture(page, "label-progress-dark")
    assert all_controls_are_reached(page) >= 4
    with page.expect_download() as coming:
        page.get_by_role("button", name="Download as CSV").press("Enter")
    assert coming.value.path().read_bytes().decode("utf-8-sig").startswith("item,label,question")
    page.get_by_label("Your name").fill("cy")
    page.get_by_role("button", name="Settle 1 disagreement").press("Enter")
    pressed(page, "Settle disagreements", "h")
    expect(page.get_by_role("button", name="Settle")).to_have_count(0)
    assert page.__dict__["troubles"] == []
    page.close()


def pressed(page: Page, heading: str, key: str) -> None:
    """``key`` on the page with this heading: a key that is sent while the page before still stands, or before the
    script of this one ran, is nobody's."""
    expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    expect(page.locator(f'[aria-keyshortcuts~="{key}"]')).to_be_visible()
    page.keyboard.press(key)


def all_controls_are_reached(page: Page) -> int:
    """With the Tab key alone; each has a name. How many there are."""
    # Of a group of radio buttons the Tab key reaches one, the arrow keys the others.
    controls = page.locator("a:visible, button:visible, input:visible:not([type=radio]), select:visible, summary")
    wanted = controls.count()
    reached: set[str] = set()
    for _ in range(3 * wanted):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.outerHTML")
        if not focused.startswith("<body"):
            reached.add(focused)
    assert len(reached) >= wanted
    for control in controls.all():
        assert control.evaluate("e => e.textContent.trim() || e.ariaLabel || e.labels?.length")
    return wanted


@pytest.mark.parametrize("path", ["/collections", "/evaluations", "/watch", "/login"])
def test_every_control_is_reached_by_keyboard_and_has_a_name(chromium: Browser, server: str, path: str) -> None:
    page = opened(chromium)
    page.goto(server + path)
    all_controls_are_reached(page)
    width = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= max(320, min(width, 336))
    page.close()
