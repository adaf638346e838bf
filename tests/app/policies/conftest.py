"""A home with one collection, a generator with given texts, and certificates for its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.answers import QueryRequest
from app.calibration.certificate_files import CertificateFiles
from app.judging.run_judge import load_scorer
from app.pipeline import Pipeline
from app.policies.certifying import deployment_of
from app.policies.judging import PolicyJudge
from app.policies.policy_request import PolicyRequest, plan_of
from app.service.application import create_app
from data.columns import utc_now
from evaluation.guarantee.certificate import Certificate
from generation.citations import find_citations
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt, PromptChunk
from retrieval.chunking.chunks import RetrievedChunk

QUESTION = "How long is the warranty of the Heron 4?"
TRUE = "The warranty of the Heron 4 lasts for three years [1]."
FALSE = "The engineers of Lisbon painted seventeen submarines [1]."


class Says:
    """A generator that returns its texts by sample, and the last one for all further samples."""

    name = "says"
    fingerprint = "5" * 64
    context_length = 512

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.prompts: list[Prompt] = []

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        shown = tuple(PromptChunk(n, c, 0, len(c.chunk.text)) for n, c in enumerate(chunks[:2], start=1))
        return Prompt(question, shown, tuple(chunks[2:]), (101, *(len(chunk.text) for chunk in shown)))

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        self.prompts.append(prompt)
        out = []
        for seed in seeds:
            text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
            cited = find_citations(text, len(prompt.chunks))
            out.append(Completion(text, (7, 8), (-0.5, -0.5), "stop", Usage(10, 2), seed, cited))
        return tuple(out)


@dataclass
class PolicyWorld:
    """A pipeline, and the judge that its certificates name."""

    line: Pipeline
    says: Says
    judge: PolicyJudge

    def certify(self, alpha: float = 0.1, threshold: float = 0.5, days: int = 0, **changed: Any) -> Path:
        """Save a certificate for the answers to QUESTION with max_tokens 32.

        changed: changed fields of its deployment.
        """
        request = QueryRequest(QUESTION, "notes", params=SamplingParams(max_tokens=32))
        plan = plan_of(PolicyRequest(max_rate=alpha), request)
        search = self.line.search("notes")
        deployment = replace(deployment_of(self.line, request, plan, search, self.judge.name), **changed)
        numbers = (100, 100, 80, 2, 0.01, 0.8, 0.7, 0.9, 0, "0")
        date = (utc_now() + timedelta(days=days)).isoformat(timespec="seconds")
        head = ("says", "notes", "run", "rag", "0" * 64, alpha, 0.05, 0.05, 1, "exact_binomial", threshold)
        made = Certificate("", 1, deployment, *head, *numbers, date)
        return CertificateFiles(self.line.home).save(replace(made, id=made.digest))


@pytest.fixture(scope="session")
def policy_judge() -> PolicyJudge:
    return PolicyJudge(load_scorer(None, "cpu"))


@pytest.fixture
def policy_world(
    make_pipeline: Callable[..., Pipeline], make_settings: Any, home_copy: Path, policy_judge: PolicyJudge
) -> PolicyWorld:
    says = Says(TRUE)
    return PolicyWorld(make_pipeline(make_settings(home_copy), says), says, policy_judge)


@pytest.fixture
def policy_client(policy_world: PolicyWorld) -> Iterator[TestClient]:
    with TestClient(create_app(policy_world.line)) as opened:
        yield opened
