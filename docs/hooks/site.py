"""mkdocs hook: add the pages that are generated from the code, and pages from files outside docs/."""

from __future__ import annotations

import os
import re
from pathlib import Path

from cli_pages import cli_pages
from http_page import http_page
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]

# Pages from other folders of the repository, by their path on the site.
ELSEWHERE = {
    "changelog.md": "CHANGELOG.md",
    "models/reader.md": "model/pretrained/reader/MODEL_CARD.md",
    "models/verifier.md": "model/pretrained/verifier/MODEL_CARD.md",
    "models/decoder.md": "model/pretrained/decoder/MODEL_CARD.md",
    "data/samples.md": "data/samples/DATACARD.md",
    "data/real_answers.md": "data/samples/real_answers/DATACARD.md",
}
PAGES = {ROOT / source: name for name, source in ELSEWHERE.items()}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add every generated page."""
    pages = {**cli_pages(), "reference/http.md": http_page()}
    pages |= {name: (ROOT / source).read_text(encoding="utf-8") for name, source in ELSEWHERE.items()}
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links to files outside docs/ to the site's copies of these files."""
    folder = Path(page.file.src_uri).parent

    def on_site(link: re.Match[str]) -> str:
        name = PAGES.get((ROOT / "docs" / folder / link[1]).resolve())
        return f"]({os.path.relpath(name, folder)})" if name else link[0]

    return re.sub(r"\]\((\.\./[^)#\s]+)\)", on_site, markdown)
