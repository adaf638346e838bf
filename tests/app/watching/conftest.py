"""A home with a calibrated collection, and audits of answers to its questions."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.calibration.certificate_files import CertificateFiles
from app.labelling.draws import DrawRequest, open_draw
from app.pipeline import Pipeline
from app.policies.judging import PolicyJudge, PolicyJudging
from data.columns import utc_now
from data.questions import Question
from evaluation.audits.audit import Audit, AuditContent, AuditedPassage
from evaluation.audits.audit_store import AuditLabel, AuditStore
from evaluation.correction.label_store import LabelStore, StoredLabel
from evaluation.guarantee.certificate import Certificate, Deployment
from evaluation.outcomes import AnswerEvaluation, Outcome
from evaluation.runs.records import SampleRecord
from evaluation.runs.run_config import ArmSpec, Decoding, RunConfig, hash_questions
from evaluation.runs.run_store import RunStore
from generation.completion import Completion, Usage
from generation.prompt import Prompt, PromptChunk
from retrieval.chunking.chunks import Chunk, RetrievedChunk
from tests.app.policies.conftest import TRUE, PolicyWorld, Says, policy_client, policy_judge

__all__ = ["policy_client", "policy_judge"]

TEXT = "The warranty of the Heron 4 lasts for three years. Batteries are not covered."
THINGS = ("pump", "valve", "gauge", "filter", "lamp", "brush", "motor", "chain", "wheel", "lever", "plate", "drum")
WAYS = (
    "How long is the warranty of the {}?",
    "What does the {} weigh?",
    "Who repairs the {}?",
    "Where is the {} made?",
)
QUESTIONS = tuple(way.format(thing) for thing in THINGS for way in WAYS)
CHUNK = PromptChunk(1, RetrievedChunk(Chunk("warranty", 0, len(TEXT), TEXT, "Warranty"), 1.0, 1), 0, len(TEXT))
ANSWER = Completion(TEXT[:50], (1,), (-0.1,), "stop", Usage(1, 1), 0, ())


@pytest.fixture(scope="session")
def judged_answers(policy_judge: PolicyJudge) -> dict[str, AnswerEvaluation]:
    """ANSWER to each of QUESTIONS, judged by the shipped verifier."""
    prompt = Prompt("", (CHUNK,), (), ())
    found = policy_judge.judge([PolicyJudging(question, ((prompt, ANSWER),)) for question in QUESTIONS])
    return {question: evaluation for question, (evaluation,) in zip(QUESTIONS, found, strict=True)}


@pytest.fixture
def policy_world(
    make_pipeline: Callable[..., Pipeline], make_settings: Any, home_copy: Path, policy_judge: PolicyJudge
) -> PolicyWorld:
    """The world of the policies' tests, whose service audits every query."""
    says = Says(TRUE)
    return PolicyWorld(make_pipeline(make_settings(home_copy, audit_rate=1.0), says), says, policy_judge)


def doubted(evaluation: AnswerEvaluation) -> AnswerEvaluation:
    """Return the evaluation with a support of 0.25."""
    verdicts = tuple(replace(v, label="unverifiable", support=0.25) for v in evaluation.verdicts)
    return AnswerEvaluation("hallucinated", verdicts)


@dataclass
class WatchWorld:
    """A pipeline on a home whose collection "notes" has a certificate at alpha 0.1."""

    line: Pipeline
    judge: PolicyJudge
    judged: dict[str, AnswerEvaluation]

    def certify(self, run: str = "run", days: float = 0, **changed: Any) -> Certificate:
        """Save a certificate. changed: changed fields."""
        search = self.line.search("notes")
        deployment = Deployment(
            "m", "p", self.judge.name, search.retriever.generation_hash, self.line.encoder.fingerprint, "k=4", "t=0",
            "abstain",
        )  # fmt: skip
        numbers = (100, 100, 80, 2, 0.01, 0.8, 0.7, 0.9, 0, "0")
        date = (utc_now() + timedelta(days=days)).isoformat(timespec="seconds")
        head = ("says", "notes", run, "rag", "0" * 64, 0.1, 0.05, 0.05, 1, "exact_binomial", 0.5)
        made = replace(Certificate("", 1, deployment, *head, *numbers, date), **changed)
        made = replace(made, id=made.digest)
        CertificateFiles(self.line.home).save(made)
        return made

    def audit(
        self,
        certificate: str = "",
        questions: Sequence[str] = ("Who?",),
        label: Outcome | None = None,
        answered: bool = True,
        probability: float = 0.5,
        days: float = 0,
    ) -> list[int]:
        """Store and label one audit per question, and return their numbers. days: time from now."""
        store, moment = AuditStore(self.line.store), utc_now() + timedelta(days=days)
        before = {audit.number for audit in store.load("notes")}
        policy = "abstain" if certificate else "none"
        passage = AuditedPassage("warranty", "Warranty", 0, 50, TEXT[:50])
        drawn = [
            Audit(
                uuid.uuid4().hex, "notes", certificate, policy, probability, answered, 0.7,
                AuditContent(question, "", f"An answer to {question}", (passage,), "m", "g", "v"),
            )
            for question in questions
        ]  # fmt: skip
        assert store.add(drawn, moment) == len(drawn)
        numbers = [audit.number for audit in store.load("notes") if audit.number not in before]
        if label is not None:
            store.save_labels([AuditLabel(number, "ann", label) for number in numbers], moment)
        return numbers

    def run(
        self, questions: Sequence[str] = QUESTIONS, labelled: int = 12, wrong: int = 4, answerable: bool = True
    ) -> str:
        """Store a run whose answers the verifier scored, and label some of them.

        The last ``wrong`` labels are "hallucinated". answerable: False marks all questions as unanswerable, with a
        stored support of 0.25.
        """
        asked = tuple(Question(f"q{n:03d}", text, answerable=answerable) for n, text in enumerate(questions))
        decoding = Decoding(temperature=0.0)
        arms = (ArmSpec("rag", "k=4"),)
        config = RunConfig(hash_questions(asked), arms, 1, decoding, 0, "g" * 64, self.judge.name, "0", "")
        with Pipeline(self.line.settings) as pipeline:
            runs = RunStore(pipeline.store)
            run_id = runs.create_or_open_run(config, asked, "a run", [("collection", "notes"), ("model", "m")])
            runs.set_status(run_id, "running")
            records = [
                SampleRecord(
                    q.id, "rag", decoding.label, 0, 0, ANSWER, (CHUNK,), (),
                    self.judged[q.text] if answerable else doubted(self.judged[q.text]),
                )
                for q in asked
            ]  # fmt: skip
            runs.save_samples(run_id, records)
            runs.set_status(run_id, "finished")
            drawn = open_draw(pipeline, run_id, DrawRequest(questions=labelled))
            keys = [(q.question_id, s.arm, s.sample) for q in drawn.stored.chosen.questions for s in q.samples]
            labels: list[Outcome] = ["supported"] * (labelled - wrong) + ["hallucinated"] * wrong
            given = [StoredLabel(key, "me", label) for key, label in zip(keys, labels, strict=True)]
            LabelStore(pipeline.store).save(run_id, drawn.stored.decoding, given)
        return run_id


@pytest.fixture
def watched(
    make_pipeline: Callable[..., Pipeline], make_settings: Any, home_copy: Path, policy_judge: PolicyJudge,
    first_words: Any, judged_answers: dict[str, AnswerEvaluation],
) -> WatchWorld:  # fmt: skip
    return WatchWorld(make_pipeline(make_settings(home_copy), first_words()), policy_judge, judged_answers)


@pytest.fixture
def watch(watched: WatchWorld, typed: Callable[..., SimpleNamespace]) -> Callable[..., SimpleNamespace]:
    """Function that runs ``plumbline watch`` on the home."""
    return lambda *words: typed("watch", *words, "--home", watched.line.home)
