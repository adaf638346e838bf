"""Token files: what was written is read back as one ring, a killed writer goes on, and damage is named."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest

from model.errors import ModelError
from model.training.pretrain_corpus import CorpusFacts, CorpusWriter, TokenStream, open_corpus
from model.training.pretrain_windows import WindowPlan

END = 9


def documents(count: int = 30) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [random.integers(10, 60000, size=random.integers(0, 12)).astype(np.uint16) for _ in range(count)]


def write(folder: Path, *, shard_bytes: int = 30, upto: int | None = None, identity: str = "a") -> CorpusFacts | None:
    """Every fifth document is held out. upto: the writer is killed before that document."""
    writer = CorpusWriter(folder, identity, end_id=END, shard_bytes=shard_bytes)
    for number, ids in enumerate(documents()):
        if number < writer.documents:
            continue
        if number == upto:
            return None
        writer.add(ids, held_out=number % 5 == 0)
    return writer.finish(("x:1: bad",))


def expected(held_out: bool) -> list[int]:
    out: list[int] = []
    for number, ids in enumerate(documents()):
        if (number % 5 == 0) == held_out:
            out += [*ids.tolist(), END]
    return out


def read(folder: Path, facts: CorpusFacts, stream: str) -> list[int]:
    tokens = TokenStream(folder, facts, stream)
    return tokens.read(0, len(tokens)).tolist()


@pytest.mark.parametrize("shard_bytes", [2, 7, 30, 100_000])
def test_streams_come_back_whatever_the_shards(tmp_path: Path, shard_bytes: int) -> None:
    facts = write(tmp_path, shard_bytes=shard_bytes)
    assert facts is not None
    assert facts == open_corpus(tmp_path)
    assert (facts.documents, facts.validation_documents, facts.skipped) == (30, 6, ("x:1: bad",))
    assert read(tmp_path, facts, "train") == expected(False)
    assert read(tmp_path, facts, "validation") == expected(True)
    assert facts.tokens("train") == len(expected(False))
    assert max(path.stat().st_size for path in tmp_path.glob("*.tokens")) <= shard_bytes
    assert not list(tmp_path.glob("unfinished.json"))


@pytest.mark.parametrize("kill", [0, 1, 7, 29])
def test_a_killed_writer_goes_on(tmp_path: Path, kill: int) -> None:
    assert write(tmp_path, upto=kill) is None
    assert open_corpus(tmp_path) is None
    if kill == 29:
        assert CorpusWriter(tmp_path, "a", end_id=END, shard_bytes=30).documents > 0
    facts = write(tmp_path)
    assert facts is not None
    assert read(tmp_path, facts, "train") == expected(False)
    assert read(tmp_path, facts, "validation") == expected(True)


def test_another_corpus_or_a_damaged_shard_begins_anew(tmp_path: Path) -> None:
    write(tmp_path, upto=29)
    assert CorpusWriter(tmp_path, "b", end_id=END, shard_bytes=30).documents == 0
    (tmp_path / "train-00000.tokens").write_bytes(b"\0\0")
    assert CorpusWriter(tmp_path, "a", end_id=END, shard_bytes=30).documents == 0


def test_a_damaged_shard_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "train-00001.tokens").unlink()
    with pytest.raises(ModelError, match=r"train-00001.tokens"):
        open_corpus(tmp_path)


def test_a_full_disk_keeps_what_was_written(tmp_path: Path) -> None:
    writer = CorpusWriter(tmp_path, "a", end_id=END, shard_bytes=100_000)
    for ids in documents()[:10]:
        writer.add(ids, held_out=False)
    writer.flush()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))  # stands for the disk
        with pytest.raises(ModelError, match=r"could not be written .* 10 documents are kept"):
            writer.add(documents()[10], held_out=False)
            writer.finish(())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert CorpusWriter(tmp_path, "a", end_id=END, shard_bytes=100_000).documents == 10


def test_an_epoch_reads_every_token_once_and_epochs_differ(tmp_path: Path) -> None:
    facts = write(tmp_path)
    assert facts is not None
    stream = TokenStream(tmp_path, facts, "train")
    ring = expected(False)
    plan = WindowPlan(stream, context=5, batch=1, seed=3)
    epochs = []
    for epoch in range(2):
        windows = [plan.batch(epoch * plan.windows + n)[0].tolist() for n in range(plan.windows)]
        doubled = ring + ring
        starts = [next(i for i in range(len(ring)) if doubled[i : i + 6] == window) for window in windows]
        targets = sorted((start + 1 + k) % len(ring) for start in starts for k in range(5))
        assert len(targets) == len(set(targets)) == len(ring) // 5 * 5
        epochs.append(starts)
    assert epochs[0] != epochs[1]
    # Any step at once, from the seed alone.
    again = WindowPlan(stream, context=5, batch=1, seed=3)
    assert again.batch(plan.windows + 4).tolist() == plan.batch(plan.windows + 4).tolist()
    other = WindowPlan(stream, context=5, batch=4, seed=4)
    assert other.batch(0).shape == (4, 6)
    assert other.batch(0).tolist() != WindowPlan(stream, context=5, batch=4, seed=3).batch(0).tolist()
    assert plan.steps(2.5) == int(2.5 * plan.windows)
    assert WindowPlan(stream, context=5, batch=10_000, seed=0).steps(1) == 1


def test_too_short_a_stream_is_refused(tmp_path: Path) -> None:
    facts = write(tmp_path)
    assert facts is not None
    stream = TokenStream(tmp_path, facts, "validation")
    with pytest.raises(ModelError, match=r"501.*context"):
        WindowPlan(stream, context=500, batch=1, seed=0)
    with pytest.raises(ModelError, match="requested from a stream"):
        stream.read(0, len(stream) + 1)
