"""Planted first claims in a run: drawn, judged, marked and compared, with a model that errs after an error."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest

from data.questions import Question
from data.store import Store
from evaluation.analysis.forced_run import (
    ForcedRun,
    followers,
    follows_name,
    forced_parts,
    mark_followers,
    planted_name,
)
from evaluation.analysis.run_analysis import RunAnalysis
from evaluation.modifiers.modifier import ModifiedArm
from evaluation.modifiers.planting import PLANTINGS, PlantedAnswerSet, PlantedClaim, planted_claim
from evaluation.reports.analysis_tables import analysis_rows
from evaluation.reports.analysis_view import analysis_view
from evaluation.reports.report import template_environment
from evaluation.runs.arms import ClosedBook, NotPossibleError, PrefixedArm
from evaluation.runs.experiment import configure, run_experiment
from evaluation.runs.extra_verdicts import ExtraVerdicts
from evaluation.runs.run_config import Decoding
from evaluation.runs.run_store import RunStore
from evaluation.statistics.measure import Resampler, Settings
from evaluation.verifiers.context_evidence import ContextEvidence
from evaluation.verifiers.entailment import EntailmentVerifier
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk

CITIES = ("Paris", "Rome", "Leith", "Oslo", "Bern", "Riga", "Porto", "Turin", "Ghent", "Lyon", "Kyiv", "Derry")
QUESTIONS = tuple(Question(f"q{i:02d}", f"Which city has river number {i}?", (c,)) for i, c in enumerate(CITIES))
SETTINGS = Settings(bootstrap=400, permutations=199)


class Snowball:
    """A model that continues truly after a true beginning and falsely after a false one.

    It always repeats the beginning.
    """

    name = "snowball"
    fingerprint = "snowball-1"
    context_length = 500

    def __init__(self, follows: bool = True) -> None:
        self.follows = follows

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        return self.continued_prompt(question, chunks, max_new_tokens, "")

    def continued_prompt(
        self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int, beginning: str
    ) -> Prompt:
        return Prompt(question, (), (), (1, 2), instructions=beginning)

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        number = re.search(r"number (\d+)", prompt.question)
        assert number is not None and prompt.question.endswith("several sentences.")
        right = CITIES[int(number[1])]
        instructions = prompt.instructions
        text = "The river is wide. Boats sail there."
        if self.follows and instructions and right not in instructions:
            text = "Pelicans founded it. Penguins own it."
        text += f" So the city is {instructions.split()[-1]}" if instructions else ""
        text = text if instructions else f"The answer is {right}. {text}"
        return tuple(Completion(text, (1,), (-0.5,), "stop", Usage(2, 1), seed) for seed in seeds)


def forced(store: Store, generator: Snowball, overlap: type, questions: Sequence[Question] = QUESTIONS) -> ForcedRun:
    known = {q.id: [f"The river is wide. Boats sail there. The answer is {' '.join(q.references)}."] for q in questions}
    verifier = EntailmentVerifier(overlap(), ContextEvidence(known), 0.9)
    arms = [ModifiedArm(ClosedBook(), [PlantedClaim(p, "main")]) for p in PLANTINGS]
    runs, kept = RunStore(store), ExtraVerdicts(store)
    config = configure(questions, arms, generator, verifier, samples=2, decoding=Decoding(), seed=1, version="0")
    run = run_experiment(config, questions, arms, generator, verifier, runs).run_id
    records, scorer = runs.load_samples(run), overlap()
    mark_followers(run, records, questions, scorer, 0.9, kept)
    calls = len(scorer.calls)
    mark_followers(run, records, questions, scorer, 0.9, kept)
    assert len(scorer.calls) == calls  # claims with marks are not marked again
    name = follows_name(scorer, 0.9)
    return ForcedRun(records, followers(kept.load(run, name)), name)


@pytest.mark.drill
def test_a_model_that_errs_after_an_error_shows_an_effect(database_url: str, overlap: type) -> None:
    with Store.open(database_url) as store:
        found = forced(store, Snowball(), overlap)
    assert len(found.records) == 3 * 2 * 12
    (arm,) = forced_parts(found, Resampler(SETTINGS))
    assert (arm.arm, arm.reason) == ("closed_book", "")
    assert arm.found is not None
    assert (arm.found.questions, arm.found.left_out) == (12, 0)
    assert (arm.found.after_false.default.rate, arm.found.after_true.default.rate) == (1.0, 0.0)
    assert arm.found.unforced.default.rate == 0.0
    effect = arm.found.effect.default
    assert effect.rate == 1.0 and effect.lower is not None and effect.lower > 0.5
    # "So the city is X" names the planted answer. It is left out after both plantings, or it would itself be an effect.
    assert arm.found.excluded == 2 * 2 * 12


@pytest.mark.drill
def test_a_model_that_does_not_mind_shows_none(database_url: str, overlap: type) -> None:
    with Store.open(database_url) as store:
        (arm,) = forced_parts(forced(store, Snowball(follows=False), overlap), Resampler(SETTINGS))
    assert arm.found is not None
    effect = arm.found.effect.default
    assert effect.rate == 0.0 and effect.lower is not None and effect.lower < 0 < (effect.upper or 0)


def test_questions_without_answers_to_plant_are_left_out_and_none_left_says_why(
    database_url: str, overlap: type
) -> None:
    bare = (Question("bare", "Which city has river number 0?"), Question("un", "Number 1?", answerable=False))
    with Store.open(database_url) as store:
        found = forced(store, Snowball(), overlap, bare)
    assert {r.evaluation.outcome for r in found.records} == {"unscored"}
    assert "no reference answer" in found.records[0].evaluation.reason
    (arm,) = forced_parts(found, Resampler(SETTINGS))
    assert arm.found is None and "no question has both" in arm.reason


def test_plantings_are_wrong_or_right_and_of_one_form() -> None:
    plantings = PlantedAnswerSet(QUESTIONS)
    for question in QUESTIONS:
        answers = plantings.answers(question)
        assert answers.true == question.references[0]
        assert answers.false in CITIES and answers.false != answers.true
        assert answers == PlantedAnswerSet(QUESTIONS).answers(question)
    assert planted_claim("Paris.") == planted_claim("Paris") == "The answer is Paris."
    arm = ModifiedArm(ClosedBook(), [PlantedClaim("true", "main")])
    arm.begin(QUESTIONS)
    assert isinstance(arm, PrefixedArm) and arm.name == planted_name("closed_book", "true")
    assert arm.beginning(QUESTIONS[0]) == "The answer is Paris."
    with pytest.raises(NotPossibleError, match="reference"):
        arm.beginning(Question("x", "Why?"))


def test_a_generator_that_cannot_go_on_leaves_its_samples_unscored(database_url: str, overlap: type) -> None:
    class Deaf(Snowball):
        continued_prompt = None  # type: ignore[assignment]

        def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
            return Prompt(question, (), (), (1, 2))

    with Store.open(database_url) as store:
        found = forced(store, Deaf(), overlap)
    planted = [r for r in found.records if not r.arm.endswith("none")]
    assert all("cannot continue a given beginning" in r.evaluation.reason for r in planted)


@pytest.mark.drill
def test_rows_json_and_page_have_it(database_url: str, overlap: type) -> None:
    with Store.open(database_url) as store:
        parts = forced_parts(forced(store, Snowball(), overlap), Resampler(SETTINGS))
    found = RunAnalysis(None, (), (), (), (), (), forced=parts)
    json.dumps(found.to_json(), allow_nan=False)
    rows = {r.quantity: r for r in analysis_rows(found)}
    assert rows["false less true"].rate == 1.0
    assert rows["p, null: planting false or true is alike"].rate is not None
    page = '{% from "analysis.html.j2" import analysis_links, analysis_parts %}'
    page += '{{ analysis_links(a) }}{{ analysis_parts(a, "95 %") }}'
    text = template_environment().from_string(page).render(a=analysis_view(found))
    assert 'id="forced"' in text and 'href="#forced"' in text and "+100.0" in text
