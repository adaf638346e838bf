"""``plumbline retrieve`` and ``plumbline tune`` on a small collection with a tiny encoder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.cli import main
from app.pipeline import Pipeline
from app.settings import Settings
from data.documents import Document
from retrieval.encoding.encoder import unit_vectors
from retrieval.saved_search import saved_search, settings_path

Plumbline = Callable[..., SimpleNamespace]
TOPICS = ("pump", "valve", "motor", "cable", "probe", "crane", "filter", "sensor")


class Blind:
    """An encoder that distinguishes texts only by their first letter, so that keyword search decides."""

    fingerprint = hashlib.sha256(b"blind").hexdigest()
    dimension = 8
    max_tokens = 256

    def encode_passages(self, texts: Sequence[str]) -> Any:
        return self.encode_queries(texts)

    def encode_queries(self, texts: Sequence[str]) -> Any:
        vectors = np.ones((len(texts), 8), dtype=np.float32)
        vectors[np.arange(len(texts)), [ord(text[0]) % 8 for text in texts]] += 0.5
        return unit_vectors(vectors, texts, 8)

    def count_tokens(self, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(len(text.split()) for text in texts)


@pytest.fixture(autouse=True)
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pipeline, "encoder", Blind())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    documents = [
        Document(
            f"{topic}-{i}", f"{topic.title()} {i}", f"The {topic} number {i} weighs {i} kilograms.", (("topic", topic),)
        )
        for topic in TOPICS
        for i in range(4)
    ]
    with Pipeline(Settings(home=tmp_path, database="")) as pipeline:
        pipeline.index("things", documents)
    return tmp_path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    queries = [{"_id": f"q-{t}-{i}", "text": f"weight of {t} number {i}"} for t in TOPICS for i in range(4)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    lines = [f"q-{t}-{i}\t{t}-{i}\t1\n" for t in TOPICS for i in range(4)]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    return folder


@pytest.fixture
def plumbline(capsys: pytest.CaptureFixture[str], home: Path) -> Plumbline:
    def run(*arguments: str) -> SimpleNamespace:
        capsys.readouterr()
        try:
            code = main([*arguments, "--home", str(home)])
        except SystemExit as error:
            code = int(error.code or 0)
        captured = capsys.readouterr()
        return SimpleNamespace(code=code, out=captured.out, err=captured.err)

    return run


def test_retrieve_shows_rank_score_ranks_document_place_and_text(plumbline: Plumbline) -> None:
    shown = plumbline("retrieve", "valve number 3", "--mode", "sparse", "-k", "2")
    assert shown.code == 0
    first, text = shown.out.splitlines()[:2]
    assert first.split()[0] == "1."
    assert "dense -, sparse 1" in first
    assert "valve-3 0-38" in first
    assert text.strip() == "The valve number 3 weighs 3 kilograms."[: len(text.strip())]
    output = json.loads(plumbline("retrieve", "valve number 3", "--json", "-k", "3").out)
    assert [result["rank"] for result in output["results"]] == [1, 2, 3]
    assert output["results"][0]["sparse_rank"] == 1
    assert output["settings"] == "mode=hybrid fusion=minmax"


def test_filters_and_what_explains_an_empty_result(plumbline: Plumbline) -> None:
    output = json.loads(plumbline("retrieve", "number 2", "--filter", "topic=crane|probe", "--json").out)
    assert {result["document_id"].split("-")[0] for result in output["results"]} == {"crane", "probe"}
    none = plumbline("retrieve", "number", "--filter", "topic=zeppelin")
    assert (none.code, none.out) == (0, "")
    assert "topic=zeppelin" in none.err and "'cable', 'crane'" in none.err
    unknown = plumbline("retrieve", "number", "--filter", "colour=red")
    assert (unknown.code, "document, title, topic" in unknown.err) == (1, True)
    stopped = plumbline("retrieve", "the of", "--mode", "sparse")
    assert (stopped.code, stopped.out) == (0, "")
    assert "stop words" in stopped.err
    assert "nothing was found" in stopped.err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((), 2, "query"),
        (("  ",), 2, "query"),
        (("x", "--dense-weight", "2"), 2, "dense_weight"),
        (("x", "-k", "0"), 2, "--k 0"),
        (("x", "--mmr", "3"), 2, "3.0"),
        (("x", "--hops", "0"), 2, "--hops 0"),
        (("x", "--rewrites", "2"), 1, "--model"),
        (("x", "--filter", "y"), 1, "filter"),
        (("x", "--collection", "thing"), 1, "things"),
        (("--qrels", "/nowhere"), 1, "--queries"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    plumbline: Plumbline, arguments: tuple[str, ...], code: int, says: str
) -> None:
    output = plumbline("retrieve", *arguments)
    assert (output.code, output.out) == (code, "")
    assert all(word in output.err for word in says.split())


def test_measuring_prints_measures_with_intervals_and_the_worst_questions(
    plumbline: Plumbline, files: Path, tmp_path: Path
) -> None:
    qrels = str(files / "qrels" / "test.tsv")
    shown = plumbline("retrieve", "--qrels", qrels, "--mode", "sparse", "--run-file", str(tmp_path / "run"))
    assert shown.code == 0, shown.err
    assert "32 questions, mode=bm25" in shown.out
    assert "nDCG@10      1.0000 [constant]" in shown.out
    assert len((tmp_path / "run").read_text().splitlines()[0].split()) == 6
    dense = json.loads(plumbline("retrieve", "--qrels", qrels, "--mode", "dense", "--json", "--measure", "RR@10").out)
    assert set(dense["measures"]) == {"RR@10"}
    assert dense["measures"]["RR@10"]["lower"] < dense["measures"]["RR@10"]["mean"] < 0.5
    assert len(dense["worst"]) == 10
    assert dense["by_question"]["q-pump-0"]["RR@10"] <= 1


def test_queries_without_qrels_can_be_exported_but_not_measured(
    plumbline: Plumbline, files: Path, tmp_path: Path
) -> None:
    queries = str(files / "queries.jsonl")
    none = plumbline("retrieve", "--queries", queries)
    assert none.code == 1
    assert "nothing to measure against" in " ".join(none.err.split())
    run = plumbline("retrieve", "--queries", queries, "--run-file", str(tmp_path / "run"))
    assert run.code == 0
    assert "nothing to measure" in run.err
    assert (tmp_path / "run").read_text().startswith("q-pump-0 Q0 ")


def test_tune_recommends_a_real_gain_and_writes_only_when_told(plumbline: Plumbline, files: Path, home: Path) -> None:
    qrels = str(files / "qrels" / "test.tsv")
    (home / "before").mkdir()
    assert plumbline("retrieve", "pump", "--fusion", "rrf", "--dense-weight", "0.9").code == 0
    settings_path(home, "things").write_text(
        json.dumps(
            {
                "format": 1,
                "mode": "dense",
                "fusion": "minmax",
                "depth": 100,
                "dense_weight": 0.5,
                "rrf_constant": 60.0,
                "why": "x",
            }
        )
    )
    first = plumbline("tune", "things", "--qrels", qrels)
    assert first.code == 0, first.err
    assert "the gain is significant at the 5 % level; use: --mode" in first.out
    kept = saved_search(home, "things")
    assert kept is not None and kept.params.mode == "dense"
    saved = plumbline("tune", "things", "--qrels", qrels, "--save", "--json")
    output = json.loads(saved.out)
    assert (output["real"], output["saved"]) == (True, True)
    assert output["held_out"]["mean"] > output["baseline"]["mean"]
    now = saved_search(home, "things")
    assert now is not None and now.params.mode != "dense"
    assert "p = " in now.why
    again = plumbline("tune", "things", "--qrels", qrels, "--save")
    assert "the gain may be chance; keep" in again.out
    assert "nothing was saved" in again.err
    assert plumbline("retrieve", "valve number 3", "--json").out.count("mode=") == 1


def test_tune_refuses_what_it_cannot_use(plumbline: Plumbline, files: Path, home: Path) -> None:
    assert plumbline("tune", "things").code == 2
    (files / "few").mkdir()
    (files / "few" / "q.tsv").write_text("query-id\tcorpus-id\tscore\nq-pump-1\tpump-1\t1\n")
    few = plumbline("tune", "things", "--qrels", str(files / "few" / "q.tsv"))
    assert (few.code, "too few to tune on" in few.err) == (1, True)
    wrong = plumbline("tune", "things", "--qrels", str(files / "qrels" / "test.tsv"), "--measure", "Quality")
    assert (wrong.code, "'Quality'" in wrong.err) == (1, True)
    (files / "few" / "q.tsv").write_text("query-id\tcorpus-id\tscore\nq-pump-1\tnowhere\t1\n")
    other = plumbline("tune", "things", "--qrels", str(files / "few" / "q.tsv"))
    assert "none of the 1 documents" in other.err
    settings_path(home, "things").write_text("{")
    broken = plumbline("retrieve", "pump")
    assert (broken.code, "retrieval.json" in broken.err) == (1, True)
