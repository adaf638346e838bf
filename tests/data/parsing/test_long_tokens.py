"""XML with an unfinished tag or text is refused in time that is linear in its length, not quadratic."""

from __future__ import annotations

import io
import zipfile

import pytest

from data.parsing.errors import ParseError
from data.parsing.office_xml import MAX_TOKEN_BYTES, Budget, XmlEvents, read_xml


class _Length(XmlEvents):
    def __init__(self) -> None:
        self.read = 0

    def characters(self, text: str) -> None:
        self.read += len(text)


def _read(content: bytes) -> int:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("part.xml", content)
    events = _Length()
    read_xml(zipfile.ZipFile(file), "part.xml", events, Budget(1 << 30))
    return events.read


@pytest.mark.drill  # takes seconds, because expat reads the first 8 MiB repeatedly
@pytest.mark.parametrize(("start", "end"), [(b"", b""), (b'<a b="', b'"/>'), (b"<a><!--", b"--></a>")])
def test_a_token_without_end_is_refused(start: bytes, end: bytes) -> None:
    with pytest.raises(ParseError, match="8 MiB"):
        _read(start + b"0" * (2 * MAX_TOKEN_BYTES) + end)


def test_long_text_is_read() -> None:
    assert _read(b"<a>" + b"x" * (MAX_TOKEN_BYTES + 100_000) + b"</a>") == MAX_TOKEN_BYTES + 100_000
