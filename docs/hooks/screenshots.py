"""Take the screenshots of the README and the site, from the home that `make demo` has filled.

    .venv/bin/python docs/hooks/screenshots.py [--home .demo] [--output docs/images]

Writes report.png (the report of a run of the demo) and ask.png (a judged answer on the page Ask). Needs Chromium.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

QUESTION = "How deep can the Heron 4 probe be used?"
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def main() -> None:
    """Start the service on the demo's home, and take screenshots of a report and of the page Ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=Path(".demo"), help="home folder of the demo")
    parser.add_argument("--report", type=Path, default=None, help="HTML report (default: the newest in the home)")
    parser.add_argument("--output", type=Path, default=Path("docs/images"))
    given = parser.parse_args()
    report = given.report or max(given.home.rglob("*.html"), key=lambda path: path.stat().st_mtime)
    path = next(filter(None, map(shutil.which, _CHROMIUM)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        _photograph_report(browser, report, given.output / "report.png")
        _photograph_answer(browser, given.home, given.output / "ask.png")
        browser.close()


def _photograph_report(browser: Browser, report: Path, target: Path) -> None:
    page = browser.new_page(viewport={"width": 1100, "height": 720}, color_scheme="light")
    page.goto(report.resolve().as_uri())
    page.screenshot(path=target)


def _photograph_answer(browser: Browser, home: Path, target: Path) -> None:
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--home", str(home)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})  # noqa: S603 - our own command
    try:
        lines = iter(server.stderr or ())
        url = next(found[1] for line in lines if (found := re.search(r"serving (http://\S+)", line)))
        page = browser.new_page(viewport={"width": 1100, "height": 720}, color_scheme="light")
        page.set_default_timeout(300_000)
        page.goto(url)
        page.fill("textarea", QUESTION)
        page.keyboard.press("Control+Enter")
        page.locator("summary", has_text="cited").click()  # the count appears when the answer is complete
        page.locator(".source").first.wait_for()
        page.wait_for_load_state("networkidle")
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=target)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
