"""A stored run whose answers state whether they are true, judged by a verifier with errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.cli import main
from app.pipeline import Pipeline
from app.settings import Settings
from data.questions import Question
from evaluation.outcomes import AnswerEvaluation, Claim, Evidence, Outcome, Verdict
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import ArmSpec, Decoding, RunConfig, hash_questions
from evaluation.runs.run_store import RunStore
from generation.completion import Citation, Completion, Usage

ARMS = ("closed_book", "rag")
WORDS: dict[str, Outcome] = {"False": "hallucinated", "True": "supported", "Sorry": "abstained"}
HOSTILE = '<script>alert(1)</script>\x1b[2J\x1b]0;title\x07\u202eevil & "quotes"'


class World:
    """A home with such a run.

    Answers begin with True, False or Sorry. The verifier misjudges a share ``error`` of the first two.
    """

    def __init__(self, home: Path, questions: int = 120, error: float = 0.15, samples: int = 2) -> None:
        self.home, self.samples = home, samples
        self.questions = tuple(
            Question(f"q{i:03d}", f"What is {i}? {HOSTILE}" if i == 0 else f"What is {i}?", (f"value {i}",))
            for i in range(questions)
        )
        self.error = error

    def settings(self) -> Settings:
        return Settings(home=self.home, database="", encoder="", model="", device="cpu")

    def store(self, status: str = "finished", name: str = "a run") -> str:
        rng = np.random.default_rng(5)
        decoding = Decoding()
        config = RunConfig(
            hash_questions(self.questions), tuple(ArmSpec(a, "") for a in ARMS), self.samples, decoding, 0, "g" * 64,
            "reference/1 f1>=0.8", "0",
        )  # fmt: skip
        records = []
        for question in self.questions:
            for arm, rate in zip(ARMS, (0.5, 0.25), strict=True):
                own = rng.beta(2 * rate, 2 * (1 - rate))
                for sample in range(self.samples):
                    word = "Sorry" if rng.random() < 0.1 else "False" if rng.random() < own else "True"
                    seen = WORDS[word]
                    if word != "Sorry" and rng.random() < self.error:
                        seen = "supported" if word == "False" else "hallucinated"
                    records.append(self._record(question, arm, sample, word, seen, decoding.label))
        with Pipeline(self.settings()) as pipeline:
            runs = RunStore(pipeline.store)
            run_id = runs.create_or_open_run(config, self.questions, name, [("collection", "notes")])
            runs.save_samples(run_id, records)
            runs.set_status(run_id, status)  # type: ignore[arg-type]
        return run_id

    def _record(
        self, question: Question, arm: str, sample: int, word: str, seen: Outcome, decoding: str
    ) -> SampleRecord:
        cited = arm == "rag" and word != "Sorry"
        text = f"{word}, says {HOSTILE}" if question.id == "q000" else f"{word}, it is {sample}"
        end = len(text)
        text += " [1]." if cited else "."
        citations = (Citation(1, end + 1, end + 4),) if cited else ()
        verdicts: tuple[Verdict, ...] = ()
        if word != "Sorry":
            found = (Evidence(None, 0, 5, question.references[0]), Evidence("doc", 3, 9, f"evidence of {question.id}"))
            good = seen == "supported"
            verdicts = (
                Verdict(
                    Claim(text, 0, len(text)), "supported" if good else "contradicted", 1.0 if good else 0.0, "", found,
                    "reference/1 f1>=0.8",
                ),
            )  # fmt: skip
        # NUL and half characters cannot be stored; control characters can.
        completion = Completion(text, (1,), (-0.1,), "stop", Usage(1, 1), sample, citations)
        return SampleRecord(
            question.id, arm, decoding, sample, sample, completion, (), (), AnswerEvaluation(seen, verdicts)
        )


def truth(answer: str) -> Outcome:
    """Return the true label of an answer."""
    return WORDS[answer.split(",")[0]]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "home")


@pytest.fixture
def make_world(tmp_path: Path) -> Callable[..., World]:
    return lambda **options: World(tmp_path / "home", **options)


@pytest.fixture
def read_truth() -> Callable[[str], Outcome]:
    return truth


@pytest.fixture
def plumbline(capsys: pytest.CaptureFixture[str], world: World) -> Callable[..., Any]:
    """Function that runs the command line on the home."""

    def run(*arguments: str) -> SimpleNamespace:
        capsys.readouterr()
        try:
            code = main([*arguments, "--home", str(world.home)])
        except SystemExit as error:  # raised by argparse
            code = int(error.code or 0)
        captured = capsys.readouterr()
        return SimpleNamespace(code=code, out=captured.out, err=captured.err)

    return run
