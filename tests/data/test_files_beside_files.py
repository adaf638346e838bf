"""Files that share IDs, links that lead out of a folder, and files without a suffix."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.documents import Document
from data.loaders import Refused, load_documents

PRICES = '[{"id": 2, "text": "Price"}, {"id": 1, "text": "Delivery"}]'


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def read(paths: list[Path], **options: bool) -> tuple[dict[str, str], list[Refused]]:
    items = list(load_documents(paths, **options))
    documents = {item.id: item.text for item in items if isinstance(item, Document)}
    return documents, [item for item in items if isinstance(item, Refused)]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("id,text\n1,Pump\n2,Hose\n", "id,text\n1,Price\n2,Delivery\n"),
        ('[{"id": 1, "text": "Pump"}, {"id": 2, "text": "Hose"}]', PRICES),
        (
            '{"id": 1, "text": "Pump"}\n{"id": 2, "text": "Hose"}',
            '{"_id": 1, "text": "Price"}\n{"_id": 2, "text": "Delivery"}',
        ),
    ],
)
def test_two_files_with_the_same_ids_are_both_read(tmp_path: Path, one: str, two: str) -> None:
    ending = {"i": "csv", "[": "json", "{": "jsonl"}[one[0]]
    folder = write(tmp_path, {f"faq.{ending}": one, f"sub/products.{ending}": two})
    documents, refused = read([folder])
    assert sorted(documents.values()) == ["Delivery", "Hose", "Price", "Pump"]
    assert {item.kind for item in refused} == {"note"}
    assert len(refused) == 2


def test_an_id_twice_in_one_file_is_refused(tmp_path: Path) -> None:
    documents, refused = read([write(tmp_path, {"a.csv": "id,text\n1,x\n1,y\n"})])
    assert documents == {"1": "x"}
    assert [(item.kind, item.where.rpartition("/")[2]) for item in refused] == [("part", "a.csv:3")]


def test_a_row_refused_in_the_second_file_names_the_row_of_that_file(tmp_path: Path) -> None:
    documents, notes = read([write(tmp_path, {"a.csv": "id,text\n1,x\n", "b.csv": "id,text\n1,y\n1,z\n"})])
    assert sorted(documents.values()) == ["x", "y"]
    (refused,) = [item for item in notes if item.kind == "part"]
    assert refused.where.endswith("b.csv:3") and "b.csv:2" in refused.reason


def test_two_folders_with_a_file_of_one_name_are_both_read(tmp_path: Path) -> None:
    write(tmp_path, {"north/readme.md": "North.", "south/readme.md": "South."})
    documents, _ = read([tmp_path / "north", tmp_path / "south"])
    assert documents == {"readme.md": "North.", "south/readme.md": "South."}


@pytest.mark.parametrize("follow", [False, True])
def test_links_that_lead_out_are_followed_only_when_asked(tmp_path: Path, follow: bool) -> None:
    write(tmp_path, {"outside/secret.txt": "key", "outside/folder/s.txt": "key", "root/a.txt": "a"})
    root = tmp_path / "root"
    (root / "file.txt").symlink_to(tmp_path / "outside/secret.txt")
    (root / "folder").symlink_to("../outside/folder")
    (root / "chain.txt").symlink_to("file.txt")
    (tmp_path / "rooted").mkdir()
    (root / "sibling").symlink_to(tmp_path / "rooted")  # its name starts with the name of the root
    documents, refused = read([root], follow_links=follow)
    assert ("key" in documents.values()) == follow
    if not follow:
        assert {Path(item.where).name for item in refused} == {"file.txt", "folder", "chain.txt", "sibling"}
        assert all("links are followed" in item.reason for item in refused)


def test_a_given_link_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"real/a.txt": "a"})
    (tmp_path / "link").symlink_to("real")
    assert read([tmp_path / "link"])[0] == {"a.txt": "a"}


def test_text_without_an_ending_is_read_and_other_content_refused(tmp_path: Path) -> None:
    folder = write(
        tmp_path, {"README": "Read me.", "program": b"\x7fELF\x02\0\0", "NOTES": "Größe".encode("utf-16"), "a.bin": "x"}
    )
    documents, refused = read([folder])
    assert documents == {"README": "Read me.", "NOTES": "Größe"}
    assert {Path(item.where).name for item in refused} == {"program", "a.bin"}
