"""Checks that apply to every page of the service."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any


class _Elements(HTMLParser):
    """Parser that collects tags with attributes, IDs, and inputs that have a label."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.depth: list[str] = []
        self.labelled: list[dict[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "label":
            self.depth.append(tag)
        if tag in ("input", "select", "textarea") and self.depth:
            self.labelled.append(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag == "label":
            self.depth.pop()


def check_page(response: Any, status: int = 200) -> str:
    """Return the HTML of a response after checking it as a page."""
    assert response.status_code == status, response.text[:300]
    html = str(response.text)
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    elements = _Elements(html)
    ids = [attributes["id"] for _, attributes in elements.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    labels = {attributes.get("for") for tag, attributes in elements.tags if tag == "label"}
    for tag, attributes in elements.tags:
        assert not [name for name in attributes if name.startswith("on")]
        assert "style" not in attributes
        for name in ("src", "href", "action"):
            assert not re.match(r"(?:\w+:)?//", attributes.get(name) or "")
        if tag in ("input", "select", "textarea") and attributes.get("type") != "hidden":
            named = attributes.get("id") in labels or "aria-label" in attributes or attributes in elements.labelled
            assert named, attributes
        if tag == "script":
            assert f"'nonce-{attributes['nonce']}'" in policy
    assert ("html", {"lang": "en"}) in elements.tags
    assert [tag for tag, _ in elements.tags].count("h1") == 1
    return html
