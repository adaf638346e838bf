from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest

from data.documents import Document
from data.loaders import Refused

Read = Callable[..., list[Document | Refused]]
Make = Callable[..., bytes]
One = Callable[..., Document]

BOMB = (
    "<!DOCTYPE x [<!ENTITY a 'ha'>"
    + "".join(f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(9))
    + "]>"
)


def good(items: list[Document | Refused]) -> list[Document]:
    return [item for item in items if isinstance(item, Document)]


def refused(items: list[Document | Refused]) -> dict[str, str]:
    return {item.where.rpartition("a.zip")[2] or item.where: item.reason for item in items if isinstance(item, Refused)}


def reason(items: list[Document | Refused]) -> str:
    [item] = items
    assert isinstance(item, Refused), item
    return item.reason


def p(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def test_paragraphs_headings_tables_and_what_is_unseen(here: Read, make_docx: Make, one: One) -> None:
    body = (
        p("The contract", "Titel")
        + p("Notice", "berschrift1")
        + '<w:p><w:r><w:t xml:space="preserve">Six </w:t></w:r><w:del><w:r><w:delText>two</w:delText></w:r></w:del>'
        "<w:r><w:t>months.</w:t><w:br/><w:t>Signed</w:t></w:r><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
        + f"<w:tbl><w:tr><w:tc>{p('part')}</w:tc><w:tc>{p('price')}{p('net')}</w:tc></w:tr>"
        f"<w:tr><w:tc>{p('valve')}</w:tc><w:tc>{p('3 &amp; 4')}</w:tc></w:tr></w:tbl>" + p("End", "Heading2")
    )
    document = one(here("a.docx", make_docx(body, {"Titel": "Title", "berschrift1": "heading 1"}, "")))
    assert document.text == ("The contract\n\nNotice\n\nSix months.\nSigned\n\npart\tprice\nnet\nvalve\t3 & 4\n\nEnd")
    headings = [(h.level, document.text[h.start : h.end]) for h in document.outline.headings]
    assert headings == [(1, "The contract"), (1, "Notice"), (2, "End")]
    assert (document.title, document.metadata) == ("The contract", (("author", "A. Writer"),))
    assert one(here("b.docx", make_docx(p("x"), title="Of properties"))).title == "Of properties"


def test_entities_that_expand_without_end_are_refused(here: Read, make_docx: Make) -> None:
    assert "document type declaration" in reason(here("a.docx", make_docx(p("&j;"), before=BOMB)))
    outside = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    assert "document type declaration" in reason(here("b.docx", make_docx(p("&f;"), before=outside)))


def test_damaged_empty_and_other_files_with_the_name(here: Read, make_docx: Make, make_zip: Make) -> None:
    full = make_docx(p("text"))
    assert "has no text" in reason(here("a.docx", make_docx("")))
    assert "not well-formed" in reason(here("b.docx", make_docx("<w:p>")))
    assert "without word/document.xml" in reason(here("c.docx", make_zip({"x": "y"})))
    assert "needs a password" in reason(here("d.docx", make_zip({"EncryptedPackage": "y"})))
    assert "saved as a plain .docx" in reason(here("e.docx", b"\xd0\xcf\x11\xe0 an old .doc"))
    for length in range(1, len(full), 61):
        assert reason(here("f.docx", full[:length]))
    assert "unpacks to more" in reason(here("g.docx", make_docx(p("x" * 20_000)), file_bytes=10_000))


def test_styles_in_a_circle_end(here: Read, make_zip: Make, one: One) -> None:
    w = 'xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"'
    styles = "".join(
        f'<w:style w:styleId="{a}"><w:name w:val="{a}"/><w:basedOn w:val="{b}"/></w:style>' for a, b in ("AB", "BA")
    )
    content = make_zip(
        {
            "word/document.xml": f"<w:document {w}><w:body>{p('x', 'A')}</w:body></w:document>",
            "word/styles.xml": f"<w:styles {w}>{styles}</w:styles>",
        }
    )
    assert one(here("a.docx", content)).text == "x"


def test_members_of_every_kind_carry_their_path(here: Read, make_zip: Make, make_pdf: Make) -> None:
    inner = make_zip({"deep.md": "# T\nx\n## H"})
    members = {"b/x.txt": "text", "p.pdf": make_pdf(["page"]), "r.csv": "id,text\n7,row\n", "in.zip": inner}
    hidden = {"__MACOSX/x.txt": "no", ".git/y.txt": "no", "image.png": "no"}
    items = here("a.zip", make_zip({**members, **hidden}))
    found = {document.id: dict(document.metadata)["member"] for document in good(items)}
    assert found == {
        "a.zip/b/x.txt": "b/x.txt",
        "a.zip/p.pdf": "p.pdf",
        "7": "r.csv",
        "a.zip/in.zip/deep.md": "deep.md",
    }
    assert list(refused(items)) == ["/image.png"]


def test_names_that_lead_out_passwords_and_links_are_refused_by_name(here: Read) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in ("/etc/passwd.txt", "../up.txt", "a/../../b.txt", "c:\\x.txt", "..\\y.txt", "new\nline.txt"):
            archive.writestr(name, "x")
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("locked.txt", "x")
    content = bytearray(out.getvalue())
    for start in (content.rfind(b"locked.txt") - 46 + 8, content.find(b"locked.txt") - 30 + 6):
        content[start] |= 1
    items = here("a.zip", bytes(content))
    assert [document.id for document in good(items)] == ["a.zip/new\\nline.txt"]
    reasons = refused(items)
    assert len(reasons) == 7
    assert sum("path traversal" in why for why in reasons.values()) == 5
    assert "symbolic link" in reasons["/link.txt"]
    assert "password" in reasons["/locked.txt"]


def test_bombs_end_at_what_they_unpack_to(here: Read, make_zip: Make) -> None:
    bomb = make_zip({f"{n}.txt": "0" * 300_000 for n in range(9)})
    items = here("a.zip", make_zip({"first.txt": "good", "b.zip": bomb, "c.zip": bomb}), expanded_bytes=1_000_000)
    assert good(items)[0].id == "a.zip/first.txt"
    assert len(good(items)) == 4
    [why] = refused(items).values()
    assert "more than 1,000,000 bytes" in why
    one_large = here("a.zip", make_zip({"a.txt": "0" * 300_000, "b.txt": "x"}), file_bytes=100_000)
    assert "/a.txt" in refused(one_large)
    assert [document.id for document in good(one_large)] == ["a.zip/b.txt"]


def test_zips_in_zips_and_too_many_members(here: Read, make_zip: Make) -> None:
    content = make_zip({"x.txt": "x"})
    for _ in range(4):
        content = make_zip({"z.zip": content})
    [why] = refused(here("a.zip", content)).values()
    assert "3 nested zip files" in why
    assert "more than 2 members" in reason(here("b.zip", make_zip({f"{n}.txt": "x" for n in range(3)}), members=2))


@pytest.mark.parametrize("content", [b"PK\x05\x06" + b"\0" * 18, b"nothing of a zip", b"PK\x03\x04"])
def test_empty_and_damaged_zips(here: Read, content: bytes) -> None:
    assert reason(here("a.zip", content))


def test_a_member_whose_checksum_is_wrong_is_refused_alone(here: Read) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "first member")
        archive.writestr("b.txt", "second")
    items = here("a.zip", out.getvalue().replace(b"first member", b"worst member"))
    assert [document.id for document in good(items)] == ["a.zip/b.txt"]
    assert "CRC" in refused(items)["/a.txt"]
