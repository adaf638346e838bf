"""The Ask page in headless Chromium, as a person uses it: live answers, marks, keyboard, a hostile document."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from app.pipeline import Pipeline
from app.settings import Settings
from data.documents import Document
from tests.drill.browser import browser, picture
from tests.drill.serving import WAIT_S, serving

pytestmark = [pytest.mark.drill, pytest.mark.serial]  # installs a browser where there is none

QUESTION = "How long is the warranty of the Heron 4?"
HOSTILE = (
    "The Osprey <img src=x onerror=\"document.title='taken'\"> was launched in 1998. "
    "<script>document.title='taken'</script></p><style>body{display:none}</style> It weighs 9 kg."
)
DOCUMENTS = (
    Document("warranty", "Warranty", "The warranty of the Heron 4 lasts for three years. Batteries are not covered."),
    Document("osprey", "<b onclick=alert(1)>Osprey</b>", HOSTILE),
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("ask") / "home"
    with Pipeline(Settings(home=home, database="", encoder="", model="", device="cpu")) as pipeline:
        pipeline.index("handbook", DOCUMENTS)
    ours = {key: value for key, value in os.environ.items() if not key.startswith("PLUMBLINE_")}
    with serving({**ours, "PLUMBLINE_HOME": str(home)}, "--no-worker") as running:
        yield running.url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.fixture
def page(chromium: Browser, url: str) -> Iterator[Page]:
    opened = chromium.new_page(viewport={"width": 1100, "height": 1000})
    opened.set_default_timeout(1000 * WAIT_S)
    expect.set_options(timeout=1000 * WAIT_S)
    messages: list[str] = []
    opened.on("console", lambda message: messages.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: messages.append(str(error)))
    opened.goto(url)
    yield opened
    opened.close()
    # The browser's own line about a refusal that the test asked for.
    assert [line for line in messages if "status of 422" not in line] == []


def test_an_answer_comes_live_with_its_source_and_timings(page: Page) -> None:
    page.keyboard.type(QUESTION)  # the question has the focus
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status")).to_contain_text("Answered:")
    answer = page.locator(".answer")
    expect(answer).to_contain_text("three years")
    expect(page.locator("mark.quoted")).to_have_text("three years")
    expect(page.locator("mark.quoted")).to_be_hidden()  # the sources are collapsed until somebody wants them
    expect(page.locator(".columns")).to_contain_text("retrieval")
    expect(page.locator(".columns")).to_contain_text("verification")
    answer.get_by_role("link", name="[1]").click()
    assert page.url.endswith("-rag-source-1")
    expect(page.locator("mark.quoted")).to_be_visible()
    picture(page, "ask")


def test_a_follow_up_is_understood_and_a_new_chat_forgets(page: Page) -> None:
    for question, answer in (
        (QUESTION, "three years"),
        ("Does it cover batteries?", "not covered"),
        ("Thanks!", "welcome"),
    ):
        page.get_by_label("Question").fill(question)
        page.get_by_role("button", name="Ask").click()
        expect(page.locator(".turn").last).to_contain_text(question)
        expect(page.locator(".answer").last).to_contain_text(re.compile(answer, re.IGNORECASE))
        expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    assert page.locator(".turn").count() == 3
    picture(page, "ask-conversation")
    page.get_by_role("button", name="New chat").click()
    assert page.locator(".turn").count() == 0
    expect(page.get_by_label("Question")).to_be_focused()


def test_both_side_by_side_in_the_dark(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_label("Answer from").select_option("both")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("status")).to_contain_text("Answered:")
    expect(page.get_by_role("region", name="From the documents")).to_contain_text("three years")
    expect(page.get_by_role("region", name="The model alone").locator(".answer")).not_to_be_empty()
    picture(page, "ask-dark")


def test_an_unsupported_claim_is_marked_for_eyes_and_for_screen_readers(page: Page) -> None:
    # What the model says by itself of what no document holds.
    page.get_by_label("Question").fill("Who is the president of the moon colony?")
    page.get_by_label("Answer from").select_option("off")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("status")).to_contain_text("Answered:")
    expect(page.locator("mark.unsupported").first).to_contain_text("(not supported by the documents)")


def test_a_hostile_document_stays_text(page: Page) -> None:
    for script in (True, False):
        if not script:  # the form alone, rendered by the server
            page.get_by_label("Question").fill("When was the Osprey launched?")
            page.evaluate("document.getElementById('ask').submit()")
        else:
            page.get_by_label("Question").fill("When was the Osprey launched?")
            page.get_by_role("button", name="Ask").click()
        expect(page.locator(".source").first).to_contain_text("onerror")
        expect(page.locator(".columns").last).to_contain_text("verification")
        expect(page.locator(".columns").last).to_contain_text("<b onclick=alert(1)>Osprey</b>")
        assert page.title() == "Ask · Plumbline"
        assert page.locator(".columns img, .columns script, .columns style, .columns b").count() == 0


def test_an_error_is_said_and_the_page_goes_on(page: Page) -> None:
    page.get_by_label("Question").fill("word " * 600)
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("alert")).to_contain_text("shorten it")
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_role("status")).to_contain_text("Answered:")
    expect(page.get_by_role("alert")).to_be_empty()
