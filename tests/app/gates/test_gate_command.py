"""``plumbline gate`` in a repository: it passes, fails for a worse retriever, and passes with a renewed baseline."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.gates.gate import gated_run
from app.judging.run_judge import VerifierPlan
from app.pipeline import Pipeline
from app.pytest_plugin import PlumblineRun
from app.runs.evaluate import EvaluationPlan, evaluate
from data.documents import Document
from data.questions import Question
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt, PromptChunk
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.retriever import Mode

pytest_plugins = ["pytester"]

# Hypothesis keeps its state for the process: its plugin would be set up again in the run inside a test.
PLAIN = ("-p", "no:hypothesispytest")
PLACES = 24


class FirstTwoWords:
    """A generator that answers with the first two words of the first chunk."""

    name, fingerprint, context_length = "first-two-words", "2" * 64, 512

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        shown = tuple(PromptChunk(n, c, 0, len(c.chunk.text)) for n, c in enumerate(chunks, start=1))
        return Prompt(question, shown, (), (101,))

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        answer = " ".join(prompt.chunks[0].text.split()[:2]) if prompt.chunks else "I do not know."
        return tuple(Completion(answer, (7,), (-0.5,), "stop", Usage(1, 1), seed) for seed in seeds)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, make_settings: Any) -> SimpleNamespace:
    """A home with stations that differ only in their codes, found by keywords (good) or by embeddings (worse)."""
    home = tmp_path_factory.mktemp("repository") / "home"
    codes = [f"QX-{117 + 31 * n}" for n in range(PLACES)]
    documents = [
        Document(f"station-{n}", "", f"Keeper number{n} tends the measuring station {code}.")
        for n, code in enumerate(codes)
    ]
    questions = tuple(
        Question(f"q{n:02d}", f"Who tends the measuring station {code}?", (f"Keeper number{n}",), (f"station-{n}",))
        for n, code in enumerate(codes)
    )
    runs = {}
    with Pipeline(make_settings(home)) as pipeline:
        pipeline.__dict__["generator"] = FirstTwoWords()
        pipeline.index("stations", documents)
        mode: Mode
        for mode in ("bm25", "dense"):
            plan = EvaluationPlan(questions, ("rag",), "stations", 1, k=1, mode=mode, judging=VerifierPlan("reference"))
            runs[mode] = evaluate(pipeline, plan).run_id
    return SimpleNamespace(home=home, good=runs["bm25"], worse=runs["dense"])


def _gate(typed: Callable[..., Any], repository: SimpleNamespace, run: str, path: Path, *options: object) -> Any:
    return typed("gate", run, "--home", repository.home, "--baseline", path, *options)


def test_passes_fails_on_a_worse_retriever_and_passes_renewed(
    typed: Callable[..., Any], repository: SimpleNamespace, tmp_path: Path
) -> None:
    baseline = tmp_path / "baseline.json"
    assert _gate(typed, repository, repository.good, baseline, "--renew").code == 0
    assert _gate(typed, repository, repository.good, baseline).code == 0
    files = {name: tmp_path / f"gate.{name}" for name in ("md", "xml", "json")}
    options = ("--markdown", files["md"], "--junit", files["xml"], "--json-file", files["json"])
    failed = _gate(typed, repository, repository.worse, baseline, *options)
    assert failed.code == 3
    assert "WORSE rag hallucinated" in failed.out
    assert int(ET.parse(files["xml"]).getroot().get("failures", "0")) >= 1
    assert json.loads(files["json"].read_text())["failed"] is True
    assert "gate failed" in files["md"].read_text()
    assert _gate(typed, repository, repository.worse, baseline, "--renew").code == 0
    assert _gate(typed, repository, repository.worse, baseline).code == 0


def test_another_verifier_and_a_condition_fail_the_gate(
    typed: Callable[..., Any], repository: SimpleNamespace, tmp_path: Path
) -> None:
    baseline = tmp_path / "baseline.json"
    _gate(typed, repository, repository.good, baseline, "--renew")
    document = json.loads(baseline.read_text())
    baseline.write_text(json.dumps(document | {"premises": document["premises"] | {"verifier": "other/1"}}))
    broken = _gate(typed, repository, repository.good, baseline)
    assert (broken.code, "other/1" in broken.out) == (3, True)
    _gate(typed, repository, repository.good, baseline, "--renew")
    assert _gate(typed, repository, repository.good, baseline, "--fail-if", "hall_all.upper > 0.001").code == 3


@pytest.mark.parametrize(("options", "code"), [(("--level", "1.5"), 1), (("--margin", "-1"), 1), (("--renew",), 0)])
def test_options(
    typed: Callable[..., Any], repository: SimpleNamespace, tmp_path: Path, options: Any, code: int
) -> None:
    baseline = tmp_path / "baseline.json"
    _gate(typed, repository, repository.good, baseline, "--renew")
    assert _gate(typed, repository, "latest", baseline, *options).code == code


def test_an_unknown_run_and_a_missing_baseline(
    typed: Callable[..., Any], repository: SimpleNamespace, tmp_path: Path
) -> None:
    assert _gate(typed, repository, "nothing", tmp_path / "b.json", "--renew").code == 1
    missing = _gate(typed, repository, repository.good, tmp_path / "b.json")
    assert (missing.code, "b.json" in missing.err, "(--renew)" in missing.err) == (1, True, True)


def test_the_pytest_fixture_asserts_the_rate(repository: SimpleNamespace, make_settings: Any) -> None:
    with Pipeline(make_settings(repository.home)) as pipeline:
        run = PlumblineRun(gated_run(pipeline, repository.worse))
    assert run.assert_hallucination_rate(1.0).responses == PLACES
    with pytest.raises(AssertionError, match=r"above 1\.0%"):
        run.assert_hallucination_rate(0.01)
    with pytest.raises(ValueError, match="'oracle'"):
        run.assert_hallucination_rate(0.5, arm="oracle")
    with pytest.raises(ValueError, match=r"1\.5"):
        run.assert_hallucination_rate(1.5)


def test_the_plugin_in_a_test_suite(pytester: pytest.Pytester, repository: SimpleNamespace) -> None:
    pytester.makepyfile("def test_rate(plumbline_run):\n    plumbline_run.assert_hallucination_rate(0.0)\n")
    # The plugin is there by its entry point, as in a user's environment.
    result = pytester.inline_run(*PLAIN, "--plumbline-home", str(repository.home), "--plumbline-run", repository.worse)
    result.assertoutcome(failed=1)
    nowhere = pytester.path / "nowhere"
    pytester.inline_run(*PLAIN, "--plumbline-home", str(nowhere)).assertoutcome(skipped=1)
