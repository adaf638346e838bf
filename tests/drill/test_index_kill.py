"""kill -9 of `plumbline index` at random moments, then a clean run: the same generation as an undisturbed one."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from app.pipeline import Pipeline
from app.settings import Settings
from data.samples_paths import sample_corpus_path

pytestmark = [pytest.mark.drill, pytest.mark.serial]
KILLS = 8
SEED = 20261120


def _index(home: Path, corpus: Path) -> subprocess.Popen[str]:
    place = ["--collection", "c", "--home", str(home), "--json"]
    command = [sys.executable, "-m", "app.cli", "index", str(corpus), *place]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def _finish(home: Path, corpus: Path) -> dict[str, object]:
    process = _index(home, corpus)
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    report: dict[str, object] = json.loads(out)
    return report


def test_killed_and_run_again_it_ends_in_the_same_generation(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    shutil.copytree(sample_corpus_path(), corpus)
    started = time.monotonic()
    undisturbed = _finish(tmp_path / "calm", corpus)
    lasted = time.monotonic() - started
    rng = random.Random(SEED)
    print(f"seed {SEED}, undisturbed {lasted:.1f} s")
    killed = attempts = 0
    while killed < KILLS and attempts < 3 * KILLS:
        # One moment in each eighth of a run, in order: starting, reading, embedding, assembling, publishing.
        after = lasted * (0.05 + 0.95 * (killed + rng.random()) / KILLS)
        attempts += 1
        process = _index(tmp_path / "wild", corpus)
        try:
            process.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += 1
            print(f"kill {killed} after {after:.2f} s")
        else:
            # It was done in time. The next one has all its work before it again.
            shutil.rmtree(tmp_path / "wild")
    assert killed == KILLS, "too few runs were killed to call it a drill"
    disturbed = _finish(tmp_path / "wild", corpus)
    for name in ("generation_hash", "documents", "chunks"):
        assert disturbed[name] == undisturbed[name]
    questions = ["How deep can the Heron 4 probe be used?", "When did the Suez Canal open?", "annual leave days"]
    with (
        Pipeline(Settings(home=tmp_path / "calm")) as calm,
        Pipeline(Settings(home=tmp_path / "wild")) as wild,
    ):
        for question in questions:
            one, two = (line.retriever("c").retrieve(question, 20) for line in (calm, wild))
            assert [c.chunk.id for c in one] == [c.chunk.id for c in two]
            assert np.allclose([c.score for c in one], [c.score for c in two], atol=1e-4)
    vectors = [_vectors(tmp_path / name) for name in ("calm", "wild")]
    assert np.allclose(vectors[0], vectors[1], atol=1e-5)
    assert not list((tmp_path / "wild").rglob(".building-*")), "half-built folders were left behind"


def _vectors(home: Path) -> np.ndarray:
    import faiss

    index = faiss.read_index(str(next(home.rglob("*.faiss"))))
    found: np.ndarray = index.reconstruct_n(0, index.ntotal)
    return found
