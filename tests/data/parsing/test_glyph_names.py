"""The refusal of a page without letters shows complete names of glyphs."""

from __future__ import annotations

import re

import pytest

from data.parsing.pdf_letters import unusable_text_reason


@pytest.mark.parametrize("name", ["/g{}", "/uni{:04d}", "/afii{}", "(cid:{})"])
def test_names_are_shown_whole(name: str) -> None:
    written = [name.format(number) for number in range(10012, 10080)]
    reason = unusable_text_reason("".join(written))
    found = re.findall(r"/\w+|\(cid:\d+\)", reason)
    assert found == written[: len(found)] and found
