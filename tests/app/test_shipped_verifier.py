"""The shipped verifier as commands open it: the network together with the reader."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import app.models.shipped_verifier
from app.judging.run_judge import VerifierPlan, open_judge
from app.models.evaluate import ModelRequest, load_verifier
from app.models.shipped_verifier import load_shipped_verifier
from app.pipeline import Pipeline
from app.runs.analysis import AnalysisOptions
from app.runs.evaluate import EvaluationPlan, evaluate
from app.runs.report import report_data
from app.settings import Settings
from data.questions import Question
from evaluation.runs.run_store import RunStore
from evaluation.verifiers.short_answer_scorer import ReadingUse
from evaluation.verifiers.verifier import VerificationItem, Verifier
from generation.reader.reader import EmbeddedReader
from model.checkpoints.shipped import shipped_reader, shipped_verifier
from model.errors import ModelError
from model.pairs.scoring import Pair
from model.reader.prefix_decoder import prefix_decoder_fingerprint
from model.verifier.files import CONFIG


def shipped_fingerprint() -> str:
    """Return the fingerprint of the shipped reader."""
    return prefix_decoder_fingerprint(shipped_reader())


_TEXT = "The Skellwick works opened in 1931. Its first director was Ada Thorne, who had built clocks in Leeds."
_QUESTION = "Who was the first director?"


def test_short_answers_are_told_by_what_was_asked() -> None:
    scorer = load_verifier(ModelRequest("verifier"))
    right, wrong = scorer.score([Pair(_TEXT, "Ada Thorne", _QUESTION), Pair(_TEXT, "1931", _QUESTION)])
    assert right >= 0.5 > wrong
    config = json.loads((shipped_verifier() / CONFIG).read_text("utf-8"))["reading"]
    use = ReadingUse(*(config[name] for name in ("slope", "intercept", "floor", "network")))
    reading = scorer.inner.log_expected(_QUESTION, _TEXT, ["1931"])[0]  # type: ignore[attr-defined]  # no part of the protocol
    assert use.network > 0 and wrong == pytest.approx(
        use.support(reading, load_verifier(ModelRequest("verifier-network")).score([Pair(_TEXT, "1931", _QUESTION)])[0])
    )
    network = load_verifier(ModelRequest("verifier-network"))
    assert scorer.name.startswith(f"{network.name}+reading:")
    statement = Pair(_TEXT, "The works opened in 1931, and Ada Thorne was the first who directed them.", _QUESTION)
    assert scorer.score([statement]) == network.score([statement])


_NO_WAY = "short answers"
_WITHOUT_NETWORK = {"slope": 1.0, "intercept": 0.0, "floor": 0.1, "reader": "ab", "verifier": "embedded/ab"}
_READING = {**_WITHOUT_NETWORK, "network": 0.5}


@pytest.mark.parametrize(
    ("reading", "message"),
    (
        (None, _NO_WAY),
        ({**_READING, "slope": -1.0}, _NO_WAY),
        ({**_READING, "intercept": "so"}, _NO_WAY),
        ({**_READING, "network": -0.5}, _NO_WAY),
        (_WITHOUT_NETWORK, _NO_WAY),
        (_READING, "reader ab"),
        ({**_READING, "reader": shipped_fingerprint()}, "embedded/ab"),
    ),
)
def test_another_reader_another_network_and_a_damaged_file_are_refused(
    reading: object, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(shipped_verifier(), tmp_path / "verifier"))
    config = json.loads((folder / CONFIG).read_text("utf-8"))
    (folder / CONFIG).write_text(json.dumps({**config, "reading": reading}), "utf-8")
    monkeypatch.setattr(app.models.shipped_verifier, "shipped_verifier", lambda: folder)
    with pytest.raises(ModelError, match=message):
        load_shipped_verifier()


@pytest.mark.drill
def test_a_report_says_where_the_reader_judged_its_own_answers(
    make_pipeline: Callable[..., Pipeline], make_settings: Callable[..., Settings], home_copy: Path
) -> None:
    shipped = make_pipeline(make_settings(home_copy), EmbeddedReader())
    questions = (Question("bare", "How long does the warranty of the Heron 4 last?"),)
    supports = {}
    for model in (None, "verifier-network"):
        run_id, verdicts = _judged(shipped, VerifierPlan(model=model), questions)
        supports[model] = _owns_up(shipped, run_id)
        assert verdicts and all(("+reading:" in name) == (model is None) for name in verdicts)
    assert supports == {None: True, "verifier-network": False}
    # Another reader, which has the same name: the one that judges is not its own network.
    trained = make_pipeline(make_settings(home_copy))
    run_id, verdicts = _judged(trained, VerifierPlan(), questions)
    assert trained.generator.name == shipped.generator.name and all("+reading:" in name for name in verdicts)
    assert not _owns_up(trained, run_id)


def test_so_does_one_that_judges_faithfulness_afterwards(
    make_pipeline: Callable[..., Pipeline], make_settings: Callable[..., Settings], home_copy: Path
) -> None:
    pipeline = make_pipeline(make_settings(home_copy), EmbeddedReader())
    questions = (Question("told", "How long does the warranty of the Heron 4 last?", ("three years",)),)
    run_id, verdicts = _judged(pipeline, VerifierPlan("reference"), questions)
    assert verdicts and not any("+reading:" in name for name in verdicts) and not _owns_up(pipeline, run_id)
    assert _owns_up(pipeline, run_id, AnalysisOptions(faithfulness=True))


def _judged(pipeline: Pipeline, judging: VerifierPlan, questions: tuple[Question, ...]) -> tuple[str, list[str]]:
    """Evaluate one question and return the run's ID and the verifiers of the verdicts on its only sample."""
    plan = EvaluationPlan(questions, arms=("rag",), samples=1, judging=judging)
    run_id = evaluate(pipeline, plan, judge=open_judge(pipeline, judging, questions, "notes")).run_id
    (record,) = RunStore(pipeline.store).load_samples(run_id)
    return run_id, [verdict.verifier for verdict in record.evaluation.verdicts]


def _owns_up(pipeline: Pipeline, run_id: str, looking: AnalysisOptions | None = None) -> bool:
    return any(
        "judged partly by the reader's own network" in note for note in report_data(pipeline, run_id, looking).notes
    )


def test_questions_that_the_documents_do_not_answer_are_the_networks(
    make_pipeline: Callable[..., Pipeline], make_settings: Callable[..., Settings], home_copy: Path
) -> None:
    pipeline = make_pipeline(make_settings(home_copy))
    unanswerable = Question("none", "When does the office in Lisbon close?", answerable=False)
    routed = open_judge(pipeline, VerifierPlan(), (unanswerable,), "notes").verifier
    network = open_judge(pipeline, VerifierPlan("entailment", "verifier-network"), (unanswerable,), "notes").verifier

    def support(verifier: Verifier) -> float | None:
        claims = verifier.extract(unanswerable, "nine").claims
        ((verdict,),) = verifier.verify((VerificationItem(unanswerable, claims, "nine"),))
        return verdict.support

    assert "+reading:" in routed.name and "+reading:" not in network.name
    assert support(routed) == pytest.approx(support(network))
