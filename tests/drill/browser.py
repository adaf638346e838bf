"""Headless Chromium for drills: Debian's package, which root may install. Tests are skipped without it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """Return the path of Chromium. Skips the test if there is none and it cannot be installed."""
    found = next((path for path in map(shutil.which, _NAMES) if path), None)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]):
            subprocess.run(command, check=False, capture_output=True, timeout=900)
        found = shutil.which("chromium")
    if found is None:
        pytest.skip("there is no Chromium, and it cannot be installed here")
    return found


def picture(page: Page, name: str) -> Path:
    """Write a screenshot of the full page to the folder PLUMBLINE_SCREENSHOTS, or to a temporary folder."""
    folder = Path(os.environ.get("PLUMBLINE_SCREENSHOTS") or Path(tempfile.gettempdir()) / "plumbline-screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    page.screenshot(path=path, full_page=True)
    return path


@contextmanager
def browser() -> Iterator[Browser]:
    """Yield a new browser, which is closed at the end with its pages."""
    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()
