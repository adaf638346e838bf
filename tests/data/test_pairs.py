"""Pair files: plain and compressed, with bad lines named by file and number."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from data.errors import DataError
from data.pairs import PairExample, load_pairs
from tests.data.example_files import check_bad_line, check_compressed_files, check_limit, write

GOOD = {"evidence": "The lamp is green.", "claim": "It is red.", "supported": False, "source": "own"}


def test_fields_and_defaults(tmp_path: Path) -> None:
    path = write(
        tmp_path / "mine.train.jsonl",
        GOOD,
        "",
        {"evidence": "x", "claim": "y", "supported": True, "question": "why?", "group": "g", "more": 1},
    )
    first, second = load_pairs([path]).examples
    assert first == PairExample("The lamp is green.", "It is red.", False, source="own", group="own:The lamp is green.")
    assert second == PairExample("x", "y", True, "why?", "mine", "g")
    assert second.wrong is None


def test_compressed_files_and_a_byte_order_mark(tmp_path: Path) -> None:
    check_compressed_files(load_pairs, GOOD, tmp_path)


def test_what_no_tokenizer_takes_is_replaced_one_for_one(tmp_path: Path) -> None:
    """A truncated emoji, written as half of an escape pair, would otherwise fail much later."""
    path = write(tmp_path / "a.jsonl", {**GOOD, "evidence": "A lamp \ud83d and\0 more.", "group": "\udc00"})
    (example,) = load_pairs([path]).examples
    assert (example.evidence, example.group) == ("A lamp \ufffd and\ufffd more.", "\ufffd")
    full = write(tmp_path / "b.jsonl", {**GOOD, "evidence": "A lamp \U0001f600."})
    assert load_pairs([full]).examples[0].evidence == "A lamp \U0001f600."


BAD = [
    ("{", "Expecting"),
    ("[]", "must be a JSON object"),
    ('"text"', "must be a JSON object"),
    ("[" * 100_000, ""),
    ({**GOOD, "claim": " "}, "the claim is empty"),
    ({**GOOD, "evidence": "\n"}, "the evidence is empty"),
    ({"evidence": "x", "supported": True}, "claim is missing"),
    ({"claim": "x", "supported": True}, "evidence is missing"),
    ({"evidence": "x", "claim": "y"}, "supported is missing"),
    ({**GOOD, "supported": "true"}, "supported is 'true': it must be true or false"),
    ({**GOOD, "supported": 1}, "supported is 1: it must be true or false"),
    ({**GOOD, "supported": None}, "supported is None"),
    ({**GOOD, "claim": 5}, "claim must be text, not int"),
    ({**GOOD, "question": None}, "question must be text"),
    ({**GOOD, "group": ["g"]}, "group must be text"),
]


@pytest.mark.parametrize(("bad", "expected"), BAD, ids=[str(bad)[:40] for bad, _ in BAD])
def test_a_bad_line_is_named_or_left_out_and_listed(bad: object, expected: str, tmp_path: Path) -> None:
    assert check_bad_line(load_pairs, GOOD, bad, expected, tmp_path).parameter == "skip_bad"


def test_limit_is_of_good_lines_a_file(tmp_path: Path) -> None:
    check_limit(load_pairs, GOOD, tmp_path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(json.dumps(GOOD).encode() * 50)[:-20])
    (tmp_path / "plain.jsonl.bz2").write_bytes(b"{}")
    (tmp_path / "latin.jsonl").write_bytes("{'Zürich'}".encode("latin-1"))
    for name in ("cut.jsonl.gz", "plain.jsonl.bz2", "latin.jsonl"):
        with pytest.raises(DataError, match=rf"{name}"):
            load_pairs([tmp_path / name], skip_bad=True)
    with pytest.raises(DataError, match=r"none\.jsonl"):
        load_pairs([tmp_path / "none.jsonl"])


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no example in .*a\.jsonl"):
        load_pairs([write(tmp_path / "a.jsonl", "", " ")])
    with pytest.raises(DataError, match="no example in no file"):
        load_pairs([])
    with pytest.raises(DataError, match="no example"):
        load_pairs([write(tmp_path / "b.jsonl", "{")], skip_bad=True)


@pytest.mark.parametrize("wrong", [((0, 0),), ((-1, 2),), ((3, 2),), ((0, 3), (2, 11))])
def test_wrong_words_must_lie_in_the_claim(wrong: tuple[tuple[int, int], ...]) -> None:
    assert PairExample("x", "It is red.", False, wrong=((0, 2), (6, 10))).wrong == ((0, 2), (6, 10))
    with pytest.raises(ValueError, match="10 characters"):
        PairExample("x", "It is red.", False, wrong=wrong)
