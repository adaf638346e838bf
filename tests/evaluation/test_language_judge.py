"""A language model as a judge, with small real generators: probabilities, votes, nonsense, and failures half way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from data.questions import Question
from evaluation.errors import EvaluationError
from evaluation.outcomes import Verdict
from evaluation.verifiers.context_evidence import ContextEvidence
from evaluation.verifiers.language_judge import LanguageJudge
from evaluation.verifiers.verifier import VerificationItem, failed
from evaluation.verifiers.votes import VoteCount, count_votes, support_of, vote_of
from generation.completion import Completion, Usage
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError
from generation.prompt import Prompt, PromptChunk
from retrieval.chunking.chunks import RetrievedChunk

Answer = Callable[[str, int, bool], tuple[str, float | None]]


class Speaker:
    """A Generator that answers by a function of (question, seed, greedy) -> (text, log-probability of its first token).

    Its context holds two passages.
    """

    name, fingerprint, context_length = "speaker", "f" * 64, 100

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.prompts: list[Prompt] = []

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        if "endless" in question:
            raise GenerationError("the question does not fit")
        shown = tuple(PromptChunk(n, c, 0, len(c.chunk.text)) for n, c in enumerate(chunks[:2], start=1))
        return Prompt(question, shown, tuple(chunks[2:]), ())

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        self.prompts.append(prompt)
        out = []
        for seed in seeds:
            text, chance = self._answer(prompt.question, seed, params.temperature == 0)
            logprobs = () if chance is None else (chance,)
            out.append(Completion(text, (), logprobs, "stop", Usage(1, 1), seed))
        return tuple(out)


EVIDENCE = ContextEvidence({"q": ("The mast is oak.", "It was cut in 1820.", "A third passage."), "none": ()})
ASKED = Question("q", "What is the mast?")


def judge(speaker: Speaker, text: str, question: Question = ASKED, **options: int) -> tuple[Verdict, ...]:
    verifier = LanguageJudge(speaker, EVIDENCE, **options)
    extracted = verifier.extract(question, text)
    (found,) = verifier.verify([VerificationItem(question, extracted.claims, text)])
    assert all(v.verifier == verifier.name for v in found)
    return found


def test_probabilities_of_what_was_seen() -> None:
    def answer(question: str, seed: int, greedy: bool) -> tuple[str, float | None]:
        return ("Yes", math.log(0.7)) if greedy or seed % 2 else ("No.", math.log(0.2))

    (found,) = judge(Speaker(answer), "The mast is oak.")
    # 0.1 was not seen: half of it may be either.
    assert found.label == "supported" and found.support == pytest.approx(0.75)
    assert "by probability" in found.reason
    assert [(e.document_id, e.text) for e in found.evidence] == [
        ("context 1", "The mast is oak."),
        ("context 2", "It was cut in 1820."),
    ]


def test_votes_where_no_probability_is_known() -> None:
    seen: list[int] = []

    def answer(question: str, seed: int, greedy: bool) -> tuple[str, float | None]:
        seen.append(seed)
        return ("yes, it is" if len(seen) % 5 < 2 else "No", None)

    (found,) = judge(Speaker(answer), "The mast is oak.")
    assert found.label == "unverifiable" and found.support == pytest.approx(0.4)
    assert "2 yes, 3 no, 0 neither, by votes" in found.reason
    again: list[int] = seen.copy()
    seen.clear()
    judge(Speaker(answer), "The mast is oak.")
    assert seen == again and len(set(again[1:])) == 4  # the claim's own seeds


def test_a_claim_is_asked_alone_with_its_question_and_evidence() -> None:
    speaker = Speaker(lambda question, seed, greedy: ("yes", -0.1))
    judge(speaker, "The mast is oak. It is tall.")
    prompts = [p.question for p in speaker.prompts]
    assert sum("The mast is oak." in a for a in prompts) == sum("It is tall." in a for a in prompts) == 2
    assert all("What is the mast?" in a and ("oak" in a) != ("tall" in a) for a in prompts)


@pytest.mark.parametrize("chance", [None, math.log(0.9)])
def test_nonsense_is_unscored_with_what_was_said(chance: float | None) -> None:
    speaker = Speaker(lambda question, seed, greedy: ("Oak, I believe", chance))
    (found,) = judge(speaker, "The mast is oak.")
    assert found.label == "unscored" and "neither yes nor no" in found.reason and "Oak, I believe" in found.reason
    assert not failed(found)


def test_a_generator_that_dies_on_one_claim_costs_that_claim() -> None:
    def answer(question: str, seed: int, greedy: bool) -> tuple[str, float | None]:
        if "purple" in question:
            raise RuntimeError("out of memory")
        return ("yes", math.nan if "tall" in question else -0.01)

    found = judge(Speaker(answer), "The mast is oak. It is purple. It is tall. It is endless.", votes=2)
    assert [v.label for v in found] == ["supported", "unscored", "supported", "unscored"]
    assert failed(found[1]) and "out of memory" in found[1].reason
    assert found[2].support == 1.0 and "by votes" in found[2].reason  # no number is no probability
    assert failed(found[3]) and "does not fit" in found[3].reason


def test_no_evidence_and_empty_claims() -> None:
    speaker = Speaker(lambda question, seed, greedy: ("yes", -0.1))
    (found,) = judge(speaker, "The mast is oak.", Question("none", "What?"))
    assert (found.label, found.support) == ("unverifiable", 0.0) and speaker.prompts == []
    verifier = LanguageJudge(speaker, EVIDENCE)
    assert verifier.verify([]) == ()
    for bad in ({"threshold": 0.0}, {"votes": 0}):
        with pytest.raises(EvaluationError):
            LanguageJudge(speaker, EVIDENCE, **bad)  # type: ignore[arg-type]
    names = {LanguageJudge(speaker, EVIDENCE, **o).name for o in ({}, {"votes": 3}, {"threshold": 0.6})}  # type: ignore[arg-type]
    assert len(names) == 3 and all(len(name) <= 255 for name in names)


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("Yes", "yes"),
        (" yes.", "yes"),
        ("**No**", "no"),
        ("NO, it", "no"),
        ("Yesterday", ""),
        ("", ""),
        ("1 yes", "yes"),
    ],
)
def test_readings(text: str, reading: str) -> None:
    assert vote_of(text) == reading


def test_support_counts_what_is_neither() -> None:
    assert support_of(VoteCount(1, 0, 9, None)) is None
    assert support_of(VoteCount(6, 2, 2, None)) == 0.75
    assert support_of(VoteCount(1, 0, 1, (0.2, 0.0, 0.7))) is None
    assert support_of(VoteCount(1, 1, 0, (0.6, 0.4, 0.0))) == pytest.approx(0.6)
    assert count_votes([]).probabilities is None and support_of(count_votes([])) is None
