"""Settings saved by tune are used and shown by every command and interface, and explicit settings override them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.answers import QueryRequest
from app.cli import main
from app.judging.run_judge import VerifierPlan, open_judge
from app.pipeline import Pipeline
from app.runs.evaluate import EvaluationPlan, evaluate
from app.service.application import create_app
from data.questions import Question
from evaluation.runs.run_store import RunStore
from retrieval.retrieval_params import RetrievalParams
from retrieval.saved_search import SavedSearch, forget_search, save_search

QUESTION = "How long is the warranty of the Heron 4?"
WORDS = RetrievalParams(mode="bm25")
WEIGHED = RetrievalParams(fusion="rrf", dense_weight=0.3)
OPTIONS = "mode=hybrid fusion=rrf dense_weight=0.3"


@pytest.fixture
def pipeline(make_pipeline: Any, make_settings: Any, home_copy: Path, first_words: Any) -> Pipeline:
    found = make_pipeline(make_settings(home_copy), first_words())
    assert isinstance(found, Pipeline)
    return found


def tune(pipeline: Pipeline, params: RetrievalParams, encoder: str = "") -> None:
    save_search(pipeline.home, "notes", SavedSearch(params, "nDCG@10 0.3 before, 0.4 after", encoder))


def test_a_query_searches_as_was_tuned_and_says_so(pipeline: Pipeline) -> None:
    plain = pipeline.answer(QueryRequest(QUESTION, "notes"))
    assert plain.search == "mode=hybrid fusion=minmax"
    tune(pipeline, WORDS)
    tuned = pipeline.answer(QueryRequest(QUESTION, "notes"))
    assert (tuned.search, tuned.to_json()["search"]) == ("mode=bm25", "mode=bm25")
    assert {source.dense_rank for source in tuned.sources} == {None}
    assert pipeline.answer(QueryRequest(QUESTION, "notes", mode="dense")).search == "mode=dense"
    assert pipeline.answer(QueryRequest(QUESTION, "notes", fusion="minmax")).search == plain.search
    assert pipeline.answer(QueryRequest(QUESTION, retrieval=False)).search is None
    forget_search(pipeline.home, "notes")
    assert pipeline.answer(QueryRequest(QUESTION, "notes")).sources == plain.sources


def test_the_service_searches_as_was_tuned(pipeline: Pipeline) -> None:
    tune(pipeline, WEIGHED)
    with TestClient(create_app(pipeline)) as client:
        query = {"question": QUESTION, "collection": "notes"}
        assert client.post("/v1/query", json=query).json()["search"] == OPTIONS
        assert client.post("/v1/query", json={**query, "mode": "bm25"}).json()["search"] == "mode=bm25"
        assert client.post("/v1/query", json={**query, "mode": None}).json()["search"] == OPTIONS
        found = client.post("/v1/retrieve", json={"query": QUESTION}).json()
        assert found["search"] == OPTIONS
        assert found["data"][0]["score"] == pipeline.search("notes").retrieve(QUESTION, 4)[0].score


def test_a_run_has_the_search_in_its_hash_and_its_evidence(pipeline: Pipeline) -> None:
    questions = (Question("q1", QUESTION, ("three years",), ("warranty",)),)

    def run(**fields: Any) -> str:
        return evaluate(pipeline, EvaluationPlan(questions, collection="notes", samples=1, **fields)).run_id

    def arms_of(run_id: str) -> dict[str, str]:
        return {arm.name: arm.settings for arm in RunStore(pipeline.store).load_run(run_id).config.arms}

    def judge() -> str:
        return open_judge(pipeline, VerifierPlan("entailment"), questions, "notes").verifier.name

    plain, judged = run(), judge()
    words = run(mode="bm25")
    tune(pipeline, WORDS)
    tuned = run()
    assert len({plain, words, tuned}) == 3  # what claims are judged by is searched as tuned, too
    assert arms_of(tuned) == arms_of(words)
    assert arms_of(tuned) == {"rag": "k=4 mode=bm25", "oracle": "k=4 order=search mode=bm25"}
    assert arms_of(run(fusion="minmax")) == arms_of(plain)
    assert judge() != judged
    assert judge().startswith(judged.split(" in ")[0])


@pytest.mark.drill
def test_collections_and_query_show_what_was_tuned(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str], make_settings: Callable[..., Any]
) -> None:
    home, model = str(pipeline.home), make_settings(pipeline.home).model

    def plumbline(*arguments: str) -> Any:
        capsys.readouterr()
        code = main([*arguments, "--home", home])
        return code, capsys.readouterr()

    assert json.loads(plumbline("collections", "--json")[1].out)[0]["search"] is None
    tune(pipeline, WEIGHED, "0" * 64)
    code, shown = plumbline("collections")
    assert code == 0
    assert "searched by --mode hybrid --fusion rrf --dense-weight 0.3 --rrf-constant 60 (nDCG@10 0.3" in shown.out
    assert "notes" in shown.err
    listed = json.loads(plumbline("collections", "--json")[1].out)[0]["search"]
    assert SavedSearch.from_json(listed).params == WEIGHED
    questions = ("query", QUESTION, "--json", "--model", model)
    assert json.loads(plumbline(*questions)[1].out)["search"] == OPTIONS
    assert json.loads(plumbline(*questions, "--fusion", "zscore")[1].out)["search"] == "mode=hybrid fusion=zscore"
    code, output = plumbline("tune", "notes", "--forget")
    assert (code, output.err.strip()) == (0, "notes is searched with the default settings")
    assert "as it was before" in plumbline("tune", "notes", "--forget")[1].err
    assert json.loads(plumbline(*questions)[1].out)["search"] == "mode=hybrid fusion=minmax"
    code, output = plumbline("tune", "nowhere", "--forget")
    assert (code, "notes" in output.err) == (1, True)


def test_a_damaged_file_stops_a_search_by_name_and_hides_no_collection(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    tune(pipeline, WORDS)
    (pipeline.home / "collections" / "notes" / "retrieval.json").write_text("{")
    assert main(["collections", "--home", str(pipeline.home)]) == 0
    shown = capsys.readouterr()
    assert "notes: 3 documents" in shown.out
    assert "retrieval.json" in shown.err
    with TestClient(create_app(pipeline)) as client:
        response = client.post("/v1/query", json={"question": QUESTION})
    assert response.status_code >= 400
    assert str(pipeline.home) not in response.text
