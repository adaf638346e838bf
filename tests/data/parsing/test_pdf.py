from __future__ import annotations

import io
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pypdf
import pytest

from data.documents import Document
from data.loaders import Refused
from data.location import location_of

Read = Callable[..., list[Document | Refused]]
Make = Callable[..., bytes]
One = Callable[..., Document]


def reason(items: list[Document | Refused]) -> str:
    [item] = items
    assert isinstance(item, Refused), item
    return item.reason


def test_pages_bookmarks_and_properties(here: Read, make_pdf: Make, one: One) -> None:
    content = make_pdf(
        ["Notice\nSix months to", "", "the end of a quarter.\nPay\nMonthly."], "Contract", [("Notice", 0), ("Pay", 2)]
    )
    document = one(here("a.pdf", content))
    assert document.title == "Contract"
    assert " ".join(document.text.split()) == "Notice Six months to the end of a quarter. Pay Monthly."
    assert dict(document.metadata) == {"author": "A. Writer", "pages": "3"}
    at = document.text.index("months")
    assert location_of(document, at, at + 6).shown() == "page 1, Notice"
    at = document.text.index("Monthly")
    assert location_of(document, at, at + 7).shown() == "page 3, Pay"
    across = location_of(document, 0, len(document.text))
    assert (across.page, across.last_page, across.line) == (1, 3, None)


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("Microsoft Word - contract_final.docx", ""),
        ("Microsoft Word - The contract.docx", "The contract"),
        ("untitled", ""),
        ("scan_0001.pdf", ""),
        ("On pumps", "On pumps"),
    ],
)
def test_a_title_that_a_program_made_up_is_none(here: Read, make_pdf: Make, one: One, given: str, title: str) -> None:
    assert one(here("a.pdf", make_pdf(["text"], given))).title == title


def test_a_scan_says_so(here: Read, make_pdf: Make) -> None:
    assert "its 2 pages have no text: a scan?" in reason(here("a.pdf", make_pdf(["", ""])))


def encrypted(content: bytes, password: str, algorithm: str = "RC4-128") -> bytes:
    writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(io.BytesIO(content)))
    writer.encrypt(user_password=password, owner_password="owner", algorithm=algorithm)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_a_password_is_asked_for_only_when_there_is_one(here: Read, make_pdf: Make, one: One, algorithm: str) -> None:
    assert "encrypted and needs a password" in reason(here("a.pdf", encrypted(make_pdf(["secret"]), "pw", algorithm)))
    assert one(here("b.pdf", encrypted(make_pdf(["for all to read"]), "", algorithm))).text == "for all to read"


_WITHOUT_CRYPTOGRAPHY = """
import sys
sys.modules["cryptography"] = sys.modules["Crypto"] = None
from pathlib import Path
from data.loaders import Refused
from data.parsing.files import parse_file
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin
path = Path(sys.argv[1])
[item] = parse_file(path, Origin(path.name, path.name), ParsingLimits())
assert isinstance(item, Refused), item
print(item)
"""


def test_aes_without_the_package_says_what_to_install(tmp_path: Path, make_pdf: Make) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(encrypted(make_pdf(["for all to read"]), "", "AES-256"))
    output = subprocess.run(
        [sys.executable, "-c", _WITHOUT_CRYPTOGRAPHY, str(file)], capture_output=True, text=True, check=True
    )
    assert output.stdout.startswith("a.pdf: it is encrypted with AES")
    assert "pip install 'plumbline-rag[aes]'" in output.stdout


def test_encryption_without_means_to_open_it_is_named(here: Read, make_pdf: Make) -> None:
    plain = make_pdf(["secret"])
    aes = plain.replace(
        b"trailer <<",
        b"trailer << /ID [<00><00>] /Encrypt << /Filter /Standard /V 5 /R 6 /Length 256 /P -4 /EncryptMetadata true "
        b"/O <%s> /U <%s> /OE <%s> /UE <%s> /Perms <%s> /CF << /StdCF << /CFM /AESV3 /Length 32 >> >> /StmF /StdCF "
        b"/StrF /StdCF >>" % (b"00" * 48, b"00" * 48, b"00" * 32, b"00" * 32, b"00" * 16),
    )
    assert "encrypted" in reason(here("a.pdf", aes))


@pytest.mark.parametrize(
    "content",
    [b"%PDF-1.4\n", b"%PDF-1.7\ntrailer << /Root 9 0 R >>\nstartxref\n0\n%%EOF", b"%PDF-1.4\n" + b"\xff" * 500],
)
def test_damaged_files_are_refused(here: Read, content: bytes) -> None:
    assert reason(here("a.pdf", content))


def test_what_only_has_the_name_is_refused(here: Read) -> None:
    assert "it is not a PDF" in reason(here("a.pdf", b"PK\x03\x04 and so on"))


def test_a_cut_file_is_repaired_or_refused(here: Read, make_pdf: Make) -> None:
    content = make_pdf(["some text"])
    for length in range(10, len(content), 97):
        [item] = here("a.pdf", content[:length])
        assert isinstance(item, Refused | Document)


def test_a_stream_bomb_costs_its_page(apart: Read, make_pdf: Make) -> None:
    bomb = zlib.compress(zlib.compress(b" " * 80_000_000, 1), 9)
    content = make_pdf(["good page", "x"])
    stream = b"<< /Length 1 >>\nstream\nx\nendstream"
    plain = make_pdf(["good page", b"x"])
    assert stream in plain
    packed = b"<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n" % len(bomb) + bomb + b"\nendstream"
    items = apart({"bomb.pdf": plain.replace(stream, packed), "good.pdf": content})
    assert [item.id for item in items if isinstance(item, Document)][-1] == "good.pdf"
    assert any(isinstance(item, Refused) and "bomb.pdf" in item.where for item in items)


def test_pages_in_a_circle_and_pages_without_end(here: Read, make_pdf: Make) -> None:
    content = make_pdf(["text"])
    circle = content.replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]")
    assert circle != content
    assert reason(here("a.pdf", circle))
    endless = content.replace(b"/Count 1 ", b"/Count 999999999 ")
    [item] = here("b.pdf", endless)
    assert isinstance(item, Refused | Document)
