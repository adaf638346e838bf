"""Headless Chromium for drills: Debian's, which root may install; skipped visibly where it cannot be had."""

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
    """The path of a Chromium. Skips the test where there is none and it cannot be installed."""
    found = next((path for path in map(shutil.which, _NAMES) if path), None)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]):
            subprocess.run(command, check=False, capture_output=True, timeout=900)
        found = shutil.which("chromium")
    if found is None:
        pytest.skip("there is no Chromium, and it cannot be installed here")
    return found


def picture(page: Page, name: str) -> Path:
    """A screenshot of the whole page, in the folder PLUMBLINE_SCREENSHOTS, or one beside other temporary files."""
    folder = Path(os.environ.get("PLUMBLINE_SCREENSHOTS") or Path(tempfile.gettempdir()) / "plumbline-screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    page.screenshot(path=path, full_page=True)
    return path


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser of its own; its pages live as long as it does."""
    path = chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()
