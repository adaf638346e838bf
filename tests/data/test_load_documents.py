import inspect
import os
import sys
from pathlib import Path

import pytest

from data.documents import Document
from data.errors import DataError
from data.loaders import Refused, load_documents
from data.outline import Heading, Outline
from data.parsing.limits import ParsingLimits
from tests.data.document_files import good, ids, refused, write


def test_a_folder_is_read_in_order_of_names_with_ids_below_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "b.md": "# Two words \n\n\nFirst.\n\nSecond.  \n\n",
            "a/z.txt": "  z\n",
            "a/deep/y.TXT": "# not a title\n",
            "a.txt": "a",
            "c.md": "\n\nno title\n",
            "d.md": "## Sub\ntext",
            ".hidden.txt": "no",
            ".git/x.txt": "no",
            "empty": "",
        },
    )
    items = list(load_documents([tmp_path]))
    assert good(items) == [
        Document("a/deep/y.TXT", "", "# not a title"),
        Document("a/z.txt", "", "  z"),
        Document("a.txt", "", "a"),
        Document("b.md", "Two words", "First.\n\nSecond.", outline=Outline(first_line=4)),
        Document("c.md", "", "no title", outline=Outline(first_line=3)),
        Document("d.md", "", "## Sub\ntext", outline=Outline((Heading(3, 6, 2),))),
    ]
    assert list(refused(items)) == [str(tmp_path / "empty")]
    assert list(load_documents([tmp_path])) == items


def test_other_kinds_are_refused_once_each_and_a_folder_without_any_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "a", "b.png": "b", "c/d.doc": "d", "c/e.jsonl": "{}", "none/.x": ""})
    items = list(load_documents([tmp_path, tmp_path / "b.png"]))
    assert ids(items) == ["a.txt"]
    assert [Path(item.where).name for item in items if isinstance(item, Refused)] == [
        "b.png",
        "d.doc",
        "e.jsonl:1",
        "b.png",
    ]
    assert "only .txt, .md, " in refused(items)[str(tmp_path / "c/d.doc")]
    assert "no file of a supported kind" in refused(load_documents([tmp_path / "none"]))[str(tmp_path / "none")]


def test_single_files_have_their_name_as_id_and_bad_ones_do_not_stop_others(tmp_path: Path) -> None:
    write(tmp_path, {"x/a.txt": "a", "x/b.txt": "", "c.md": "# T\nc"})
    items = list(load_documents([tmp_path / "x/a.txt", tmp_path / "x/b.txt", tmp_path / "c.md"]))
    assert good(items) == [Document("a.txt", "", "a"), Document("c.md", "T", "c", outline=Outline(first_line=2))]
    assert refused(items) == {str(tmp_path / "x/b.txt"): "the file is empty"}


def test_a_missing_path_is_an_error_before_anything_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "a"})
    (tmp_path / "link.txt").symlink_to("nowhere")
    for path in (tmp_path / "nope", tmp_path / "a.txt" / "b", tmp_path / "link.txt", Path("nul\0")):
        with pytest.raises(DataError, match="nothing was read"):
            load_documents([tmp_path, path])  # the first item is not requested
    with pytest.raises(DataError, match=r"nope1.*nope2"):
        load_documents([tmp_path / "nope1", tmp_path / "nope2"])
    with pytest.raises(DataError, match="no path"):
        load_documents([])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b" \n\t\r\n", "only white space"),
        (b"\xef\xbb\xbf", "only white space"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary, not text (byte 8 is NUL)"),
        (b"caf\x81 au lait", "not UTF-8 at byte 3 (0x81)"),
        (b"\xef\xbb\xbfcaf\x81", "not UTF-8 at byte 6 (0x81)"),
        (b"cut \xe2\x82", "not UTF-8 at byte 4"),
        (b"surrogate \xed\xa0\x80", "not UTF-8 at byte 10"),
        ("abc".encode("utf-16") + b"x", "starts as UTF-16 but is invalid at byte 8"),
        ("abc".encode("utf-32"), "binary"),
    ],
)
def test_files_that_hold_no_text_are_refused_with_the_place(tmp_path: Path, content: bytes, reason: str) -> None:
    write(tmp_path, {"bad.txt": content, "good.txt": "good"})
    items = list(load_documents([tmp_path]))
    assert ids(items) == ["good.txt"]
    assert reason in refused(items)[str(tmp_path / "bad.txt")]


def test_a_title_alone_is_no_document(tmp_path: Path) -> None:
    write(tmp_path, {"t.md": "# Title\n\n"})
    assert "title but no text" in refused(load_documents([tmp_path]))[str(tmp_path / "t.md")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_make_no_difference(tmp_path: Path, encoding: str, newline: str) -> None:
    write(tmp_path, {"a.md": newline.join(["# Tïtle", "", "é", "ü", ""]).encode(encoding)})
    assert good(load_documents([tmp_path])) == [Document("a.md", "Tïtle", "é\nü", outline=Outline(first_line=3))]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        file.truncate(50_000_001)
    assert "more than the 50,000,000 bytes" in refused(load_documents([path]))[str(path)]
    small = write(tmp_path, {"s.txt": "12345"}) / "s.txt"
    assert ids(load_documents([small], ParsingLimits(text_bytes=5))) == ["s.txt"]
    assert not ids(load_documents([small], ParsingLimits(text_bytes=4)))


def test_a_pipe_named_txt_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    write(tmp_path, {"z.txt": "z"})
    items = list(load_documents([tmp_path]))
    assert ids(items) == ["z.txt"]
    assert "not a regular file" in refused(items)[str(tmp_path / "pipe.txt")]


def test_a_name_that_is_not_utf8_is_refused_and_can_be_shown(tmp_path: Path) -> None:
    bad = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    try:
        Path(os.fsdecode(bad)).write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    [(where, reason)] = refused(load_documents([tmp_path])).items()
    assert where.endswith(r"caf\xe9.txt")
    assert "rename" in reason


def test_an_unreadable_file_and_folder_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "a", "shut/b.txt": "b", "z.txt": "z"})
    tmp_path.chmod(0o755)
    for parent in list(tmp_path.parents)[:-1]:
        if parent.owner() == tmp_path.owner() and "pytest" in str(parent):
            parent.chmod(0o755)
    (tmp_path / "a.txt").chmod(0)
    (tmp_path / "shut").chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        items = list(load_documents([tmp_path]))
    finally:
        if root:
            os.seteuid(0)
        (tmp_path / "shut").chmod(0o755)
    assert ids(items) == ["z.txt"]
    assert {Path(where).name for where in refused(items)} == {"a.txt", "shut"}
    assert all("Permission denied" in reason for reason in refused(items).values())


def test_loops_of_links_end_and_links_never_take_a_file_from_its_place(tmp_path: Path) -> None:
    write(tmp_path / "root", {"m/real.txt": "real", "m/n/deep.txt": "deep"})
    write(tmp_path / "outside", {"o.txt": "o", "p/q.txt": "q"})
    root = tmp_path / "root"
    (root / "a-up").symlink_to(root)
    (root / "m/n/up").symlink_to("..")
    (root / "a-file.txt").symlink_to("m/real.txt")
    (root / "b-out").symlink_to(tmp_path / "outside")
    (root / "c-out").symlink_to(tmp_path / "outside" / "p")
    (root / "d-broken.txt").symlink_to("nothing")
    (root / "e-self.txt").symlink_to("e-self.txt")
    (tmp_path / "outside" / "back").symlink_to(root / "m")
    items = list(load_documents([root], follow_links=True))
    assert ids(items) == ["m/n/deep.txt", "m/real.txt", "b-out/o.txt", "b-out/p/q.txt"]
    reasons = {str(Path(where).relative_to(root)): reason for where, reason in refused(items).items()}
    assert set(reasons) == {"a-up", "m/n/up", "a-file.txt", "c-out", "d-broken.txt", "e-self.txt", "b-out/back"}
    assert "broken" in reasons["d-broken.txt"]
    assert "already" in reasons["a-file.txt"]


def test_a_link_to_a_file_outside_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, {"out/x.txt": "x", "root/b.txt": "b"})
    (tmp_path / "root/a.txt").symlink_to(tmp_path / "out/x.txt")
    (tmp_path / "root/c.txt").symlink_to(tmp_path / "out/x.txt")
    items = list(load_documents([tmp_path / "root"], follow_links=True))
    assert ids(items) == ["b.txt", "a.txt"]
    assert list(refused(items)) == [str(tmp_path / "root/c.txt")]


def test_paths_that_overlap_are_read_once(tmp_path: Path) -> None:
    write(tmp_path, {"a/b/x.txt": "x", "a/y.txt": "y"})
    assert ids(load_documents([tmp_path / "a", tmp_path / "a/b"])) == ["b/x.txt", "y.txt"]
    assert ids(load_documents([tmp_path / "a/b", tmp_path / "a"])) == ["x.txt", "y.txt"]
    for paths in (["a", "a/y.txt"], ["a/y.txt", "a"], ["a/y.txt", "a/y.txt"]):
        items = list(load_documents([tmp_path / path for path in paths]))
        assert ids(items).count("y.txt") == 1
        assert any("already" in reason for reason in refused(items).values())


def test_a_tree_deeper_than_the_stack(tmp_path: Path) -> None:
    path = write(tmp_path, {"a.txt": "a"})
    depth = 200
    for _ in range(depth):
        path = path / "d"
        path.mkdir()
    (path / "b.txt").write_text("b")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)
    try:
        assert ids(load_documents([tmp_path])) == ["a.txt", "d/" * depth + "b.txt"]
    finally:
        sys.setrecursionlimit(limit)


def test_documents_stream_one_at_a_time(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "a", "b.txt": "b"})
    items = load_documents([tmp_path])
    assert ids([next(items)]) == ["a.txt"]
    (tmp_path / "b.txt").unlink()  # deleted while the folder is read
    assert "No such file" in refused(items)[str(tmp_path / "b.txt")]
