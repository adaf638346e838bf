"""A stored run whose scores predict hallucinations, and labels of its first questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from app.cli import main
from app.labelling.draws import DrawRequest, open_draw
from app.pipeline import Pipeline
from app.settings import Settings
from data.questions import Question
from evaluation.correction.label_store import LabelStore, StoredLabel
from evaluation.outcomes import AnswerEvaluation, Claim, Outcome, Verdict
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import ArmSpec, Decoding, RunConfig, hash_questions
from evaluation.runs.run_store import RunStore
from generation.completion import Completion, Usage

VERIFIER = "faithful/1 a scorer >=0.5"


@dataclass
class CalibrationWorld:
    """A home with such a run.

    Answers are hallucinated with probability ``rate`` times (1 - score). Every tenth has no score.
    """

    home: Path
    rate: float = 0.3
    verifier: str = VERIFIER
    references: tuple[str, ...] = ()
    generation: str = ""
    arms: tuple[str, ...] = ("rag",)
    settings: dict[str, str] = field(default_factory=dict)

    def pipeline(self) -> Pipeline:
        return Pipeline(Settings(home=self.home, database="", encoder="", model="", device="cpu"))

    def store(self, questions: int, labelled: int, label: Outcome | None = None, seed: int = 3) -> str:
        """Store a run and label the first ``labelled`` questions of its draw.

        label: label of all answers; None for their simulated outcomes.
        """
        rng = np.random.default_rng(seed)
        asked = tuple(Question(f"q{i:04d}", f"What is {i}?", self.references) for i in range(questions))
        decoding = Decoding(temperature=0.0)
        config = RunConfig(
            hash_questions(asked),
            tuple(ArmSpec(arm, self.settings.get(arm, "k=4")) for arm in self.arms),
            1,
            decoding,
            0,
            "g" * 64,
            self.verifier,
            "0",
            self.generation,
        )
        truth: dict[tuple[str, str, int], Outcome] = {}
        records = []
        for question in asked:
            for arm in self.arms:
                score = float(rng.random())
                truth[question.id, arm, 0] = "hallucinated" if rng.random() < self.rate * (1 - score) else "supported"
                records.append(self._record(question.id, arm, None if rng.random() < 0.1 else score, decoding.label))
        with self.pipeline() as pipeline:
            runs = RunStore(pipeline.store)
            run_id = runs.create_or_open_run(config, asked, "a run", [("collection", "notes"), ("model", "reader")])
            runs.save_samples(run_id, records)
            runs.set_status(run_id, "finished")
            if labelled:
                self.label(pipeline, run_id, labelled, truth, label)
        return run_id

    @staticmethod
    def label(
        pipeline: Pipeline,
        run_id: str,
        labelled: int,
        truth: dict[tuple[str, str, int], Outcome],
        label: Outcome | None = None,
    ) -> None:
        drawn = open_draw(pipeline, run_id, DrawRequest(questions=labelled))
        keys = [(q.question_id, s.arm, s.sample) for q in drawn.stored.chosen.questions for s in q.samples]
        given = [StoredLabel(key, "me", label or truth[key]) for key in keys]
        LabelStore(pipeline.store).save(run_id, drawn.stored.decoding, given)

    def _record(self, question: str, arm: str, score: float | None, decoding: str) -> SampleRecord:
        text = "It is so."
        label = "unscored" if score is None else "supported" if score >= 0.5 else "unverifiable"
        verdict = Verdict(
            Claim(text, 0, len(text)), label, score, "too long" if score is None else "", (), self.verifier
        )
        outcome: Outcome = "unscored" if score is None else "supported" if score >= 0.5 else "hallucinated"
        return SampleRecord(
            question, arm, decoding, 0, 0, Completion(text, (1,), (-0.1,), "stop", Usage(1, 1), 0, ()), (), (),
            AnswerEvaluation(outcome, (verdict,), "too long" if score is None else ""),
        )  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> CalibrationWorld:
    return CalibrationWorld(tmp_path / "home")


@pytest.fixture
def plumbline(world: CalibrationWorld, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Function that runs a command on the home and returns exit code, stdout and stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main([arguments[0], "--home", str(world.home), *arguments[1:]])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
