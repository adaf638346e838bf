"""Training data of a verifier: pairs and marked responses, distinguished by content, in one call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.training.verifier.pairs import load_training_pairs
from data.errors import DataError

PAIR = {"evidence": "It is red.", "claim": "It is red.", "supported": True, "source": "s"}


def responses(folder: Path, *splits: str) -> Path:
    folder.mkdir()
    source = {"source_id": "1", "task_type": "qa", "source_info": {"question": "When?", "passages": "At nine."}}
    (folder / "source_info.jsonl").write_text(json.dumps(source), "utf-8")
    lines = [
        {
            "id": str(n),
            "source_id": "1",
            "labels": [{"start": 3, "end": 8}],
            "split": split,
            "response": f"At ten{n:02}. At nine.",
        }
        for n, split in enumerate(splits)
    ]
    (folder / "response.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    return folder


def test_pairs_and_responses_together(tmp_path: Path) -> None:
    pairs = tmp_path / "p.jsonl"
    pairs.write_text(json.dumps(PAIR) + "\n{\n" + json.dumps(PAIR), "utf-8")
    folder = responses(tmp_path / "own", "train", "test", "train")
    read = load_training_pairs([pairs, folder], skip_bad=True)
    assert [e.source for e in read.examples] == ["s", "s", "own:qa", "own:qa"]
    assert [e.claim for e in read.examples[2:]] == ["At ten00. At nine.", "At ten02. At nine."]
    assert len(read.skipped) == 1 and "p.jsonl:2:" in read.skipped[0]
    assert len(load_training_pairs([folder / "response.jsonl"], limit=1).examples) == 1


def test_a_test_split_is_never_trained_on(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'train'.*dev, test"):
        load_training_pairs([responses(tmp_path / "a", "test", "dev")])
    assert len(load_training_pairs([responses(tmp_path / "b", "", "")]).examples) == 2


def test_what_cannot_be_read_is_said_by_name(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"evidence": "a", "claim": "b", "supported": 2}\n', "utf-8")
    with pytest.raises(DataError, match=r"bad\.jsonl:1.*supported.*2"):
        load_training_pairs([bad])
    bad.write_text("nothing\n", "utf-8")
    with pytest.raises(DataError, match=r"bad\.jsonl:1: "):
        load_training_pairs([bad])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"response\.jsonl"):
        load_training_pairs([tmp_path / "empty"])
    with pytest.raises(DataError, match="no file"):
        load_training_pairs([])
    folder = responses(tmp_path / "own", "train")
    (folder / "response.jsonl").write_text(
        json.dumps({"id": "1", "source_id": "1", "labels": [], "split": "train", "response": "Hello!"}), "utf-8"
    )
    with pytest.raises(DataError, match="makes a claim"):
        load_training_pairs([folder])
