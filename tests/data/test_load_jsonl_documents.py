import bz2
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.documents import Document
from data.loaders import Refused, load_documents
from tests.data.document_files import good, ids, refused, write


def jsonl(*lines: object) -> str:
    return "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)


def test_json_lines_keep_text_to_the_letter_and_refuse_bad_lines_by_number(tmp_path: Path) -> None:
    deep = "[" * 100_000
    lines = [
        {
            "id": "1",
            "title": "T",
            "text": " a\r\n",
            "metadata": {"z": None, "n": 1.5, "b": True, "l": [1, "é"], "k": "v"},
        },
        {"_id": 2, "text": "b", "url": "ignored"},
        "",
        "{not json",
        [1],
        "null",
        {"id": "3"},
        {"id": "4", "text": 5},
        {"id": "5", "text": " \n"},
        {"text": "no id"},
        {"id": "", "text": "x"},
        {"id": True, "text": "x"},
        {"id": "6", "text": "x", "title": ["t"]},
        {"id": "7", "text": "x", "metadata": [1]},
        {"id": "8", "_id": "9", "text": "x"},
        {"id": "1", "text": "again"},
        '{"id": "10", "text": "half \\ud800"}',
        '{"id": "11", "text": "nul \\u0000"}',
        '{"id": "12", "text": "x", "metadata": {"n": NaN}}',
        deep,
        '{"id": ' + "9" * 5000 + ', "text": "x"}',
        {"id": "last", "text": "z", "title": None, "metadata": None},
    ]
    path = write(tmp_path, {"d.jsonl": jsonl(*lines)}) / "d.jsonl"
    items = list(load_documents([path]))
    assert good(items) == [
        Document("1", "T", " a\r\n", (("b", "true"), ("k", "v"), ("l", '[1, "é"]'), ("n", "1.5"))),
        Document("2", "", "b"),
        Document("last", "", "z"),
    ]
    reasons = {int(where.rpartition(":")[2]): reason for where, reason in refused(items).items()}
    assert list(reasons) == list(range(4, 22))
    for number, says in {
        4: "not JSON: Expecting property name enclosed in double quotes at column 2",
        5: "the line is a list",
        6: "the line is null",
        7: "document '3' has no \"text\"",
        8: '"text" is a number',
        9: "is empty",
        10: 'no "id" or "_id"',
        11: "is empty",
        12: "true or false",
        13: '"title" is a list',
        14: '"metadata" is a list',
        15: "differ",
        16: f"the id '1' was already used by {path}:1",
        17: "surrogate",
        18: "NUL",
        19: "NaN",
        20: "nested too deeply",
        21: "digits",
    }.items():
        assert says in reasons[number], number


def test_duplicate_ids_name_both_places_across_kinds_of_paths(tmp_path: Path) -> None:
    write(tmp_path, {"a/x.txt": "1", "b/x.txt": "2", "x.txt": "3", "c.jsonl": jsonl({"id": "x.txt", "text": "4"})})
    items = list(load_documents([tmp_path / name for name in ("a", "b", "x.txt", "c.jsonl")]))
    assert [document.text for document in good(items)] == ["1", "2", "3", "4"]
    assert len({document.id for document in good(items)}) == 4
    assert {item.kind for item in items if isinstance(item, Refused)} == {"note"}
    assert list(refused(items)) == [str(tmp_path / "b/x.txt"), str(tmp_path / "x.txt"), f"{tmp_path / 'c.jsonl'}:1"]
    assert all(str(tmp_path / "a/x.txt") in reason for reason in refused(items).values())


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.bz2", ".JSONL.GZ"])
def test_compressed_and_marked_json_lines(tmp_path: Path, suffix: str) -> None:
    plain = b"\xef\xbb\xbf" + jsonl({"id": "1", "text": "é"}, {"id": "2", "text": "b"}).encode().rstrip()
    pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(Path(suffix).suffix.lower(), bytes)
    path = write(tmp_path, {f"d{suffix}": pack(plain)}) / f"d{suffix}"
    assert list(load_documents([path])) == [Document("1", "", "é"), Document("2", "", "b")]


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
@pytest.mark.parametrize("damage", ["cut", "garbled", "none of it"])
def test_damaged_compression_keeps_what_was_read_and_says_where_it_ended(
    tmp_path: Path, suffix: str, damage: str
) -> None:
    import random

    source = random.Random(0)
    plain = jsonl(*({"id": str(i), "text": source.randbytes(300).hex()} for i in range(4000))).encode()
    packed = bytearray({".gz": gzip.compress, ".bz2": bz2.compress}[suffix](plain))
    middle = len(packed) * 3 // 4
    if damage == "cut":
        del packed[middle:]
    elif damage == "garbled":
        packed[middle : middle + 50] = b"\xff" * 50
    else:
        packed = bytearray(b"not compressed at all")
    path = write(tmp_path, {f"d.jsonl{suffix}": bytes(packed)}) / f"d.jsonl{suffix}"
    items = list(load_documents([path]))
    last = next(item for item in items if isinstance(item, Refused) and "rest of the file" in item.reason)
    assert "rest of the file is missing" in last.reason
    if damage == "cut":
        assert len(good(items)) > 1000
        assert last.where == f"{path}:{len(items)}"


def test_empty_files_and_other_encodings_of_json_lines(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "0.jsonl": "",
            "1.jsonl": "\n \n",
            "2.jsonl": jsonl({"id": "1", "text": "x"}).encode("utf-16"),
            "3.jsonl": b'{"id": "a", "text": "ok"}\n{"id": "b", "text": "caf\xe9"}\n{"id": "c", "text": "ok"}',
            "4.jsonl.gz": b"",
        },
    )
    items = list(load_documents(sorted(tmp_path.iterdir())))
    assert ids(items) == ["a", "c"]
    reasons = {Path(where).name: reason for where, reason in refused(items).items()}
    assert "empty" in reasons["0.jsonl"]
    assert "empty" in reasons["1.jsonl"]
    assert "UTF-16" in reasons["2.jsonl"]
    assert "byte 50 of the file" in reasons["3.jsonl:2"]
    assert "empty" in reasons["4.jsonl.gz"]


def test_a_beir_folder_is_its_corpus(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "corpus.jsonl": jsonl({"_id": "MED-1", "title": "T", "text": "x", "metadata": {"url": "u"}}),
            "corpus.jsonl.gz": b"",
            "queries.jsonl": "",
            "qrels/test.tsv": "",
            "README.md": "read me",
        },
    )
    items = list(load_documents([tmp_path]))
    assert good(items) == [Document("MED-1", "T", "x", (("url", "u"),))]
    assert {Path(where).name for where in refused(items)} == {"README.md", "corpus.jsonl.gz"}


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=40).map(str.encode), st.sampled_from([".txt", ".jsonl"]))
def test_any_bytes_become_a_sound_document_or_a_refusal(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    items = list(load_documents([path]))
    assert items
    for item in items:
        assert isinstance(item, Refused | Document)
        if isinstance(item, Document):
            item.sha256.encode()
            assert "\r" not in item.text
            assert item.text == item.text.rstrip()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "_id", "title", "text", "metadata"), json_values))
        | json_values,
        max_size=4,
    )
)
def test_any_json_lines_are_each_accounted_for(tmp_path: Path, lines: list[object]) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    items = list(load_documents([path]))
    assert len(items) == max(1, len(lines))
    assert len(set(ids(items))) == len(ids(items))
