"""Texts without visible characters are blank."""

from __future__ import annotations

import pytest

from data.blank import is_blank
from data.questions import Question


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\u200d\ufeff", "\u2066 \u2069", "\u00ad", "\x00", "\u2028"])
def test_nothing_to_see(text: str) -> None:
    assert is_blank(text)
    with pytest.raises(ValueError, match="no text"):
        Question("q", text)


@pytest.mark.parametrize("text", ["?", "\u200ba\u200b", "\u0301", "你", "\U0001f600"])
def test_something_to_see(text: str) -> None:
    assert not is_blank(text)
    assert Question("q", text).text == text
