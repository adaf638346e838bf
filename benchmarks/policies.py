"""Effect of each policy on the hallucination rate of sample questions, and its cost.

    python -m benchmarks.policies                                # the embedded reader, every sixth question
    python -m benchmarks.policies --model smollm2 --questions 40     # SmolLM2-135M-Instruct, 40 random questions
    python -m benchmarks.policies --policies none "strip abstain" --threshold 0.7

The policies use the shipped verifier with the passages in the prompt. The outcomes come from another verifier, which
uses reference answers and the mark of questions that the documents do not answer
(evaluation.verifiers.reference_verifier). "rate" is the share of hallucinated answers among those that are judged and
do not decline. "answer rate" is the share of answers that do not decline. Intervals: Clopper and Pearson 1934, 95 %.
All policies run on each question in turn, so that other load affects all equally. Tokens and seconds are means per
question, for generation and policies, without retrieval. Each question is answered once before the measurement, so that
every policy finds its first prompt in the cache. --answers FILE gets one line per answer. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from app.answers import QueryRequest, QueryResult
from app.judging.run_judge import load_scorer
from app.pipeline import Pipeline
from app.policies.answering import answer_with_policy
from app.policies.judging import PolicyJudge
from app.policies.policy_request import PolicyRequest
from app.settings import Settings
from data.document_loader import load_documents
from data.loaders import load_question_files
from data.questions import Question
from data.samples_paths import sample_corpus_path, sample_question_paths
from evaluation.guarantee.curves import clopper_pearson
from evaluation.outcomes import Outcome, outcome_of
from evaluation.verifiers.reference_verifier import ReferenceVerifier
from evaluation.verifiers.verifier import VerificationItem
from generation.decoding.params import SamplingParams

POLICIES = ("none", "flag", "strip", "best_of_n", "correct", "abstain", "best_of_n abstain", "strip best_of_n correct")
SAMPLES, TEMPERATURE = 4, 0.7


@dataclass(frozen=True, slots=True)
class Row:
    """Result of one policy.

    Counts are of outcomes; questions is the number of all answers. Rates have 95 % limits; a rate is None without
    answers. Tokens and seconds are means per question.
    """

    policy: str
    questions: int
    answered: int
    hallucinated: int
    unscored: int
    rate: tuple[float | None, float, float]
    answer_rate: tuple[float | None, float, float]
    prompt_tokens: float
    completion_tokens: float
    seconds: float


def outcome(question: Question, text: str) -> Outcome:
    """Return the outcome by reference answers, which the verifier of the policies never uses."""
    judge = ReferenceVerifier()
    extracted = judge.extract(question, text)
    (verdicts,) = judge.verify([VerificationItem(question, extracted.claims, text)])
    return outcome_of(verdicts, extracted.refused, extracted.reason).outcome


def row(policy: str, questions: Sequence[Question], results: Sequence[QueryResult]) -> Row:
    """Return the figures of one policy. results: one per question."""
    outcomes = [outcome(q, r.answers[0].text) for q, r in zip(questions, results, strict=True)]
    hallucinated, unscored = outcomes.count("hallucinated"), outcomes.count("unscored")
    answered = len(outcomes) - outcomes.count("abstained")
    costs = [r.policy.outcome.cost for r in results if r.policy is not None]
    return Row(
        policy,
        len(outcomes),
        answered,
        hallucinated,
        unscored,
        _rate(hallucinated, answered - unscored),
        _rate(answered, len(outcomes)),
        float(np.mean([c.prompt_tokens for c in costs])),
        float(np.mean([c.completion_tokens for c in costs])),
        float(np.mean([c.seconds for c in costs])),
    )


def answer_row(question: Question, policy: str, result: QueryResult) -> dict[str, object]:
    """Return one answer as JSON values. score: score of the returned text by the verifier of the policies."""
    given = None if result.policy is None else result.policy.outcome
    return {
        "question": question.id,
        "policy": policy,
        "text": result.answers[0].text,
        "outcome": outcome(question, result.answers[0].text),
        "score": None if given is None else given.answers[0].score_now,
        "cost": None if given is None else asdict(given.cost),
    }


def _rate(events: int, trials: int) -> tuple[float | None, float, float]:
    lower, upper = clopper_pearson(np.array(float(events)), np.array(float(trials)), 0.95)
    return events / trials if trials else None, float(lower), float(upper)


def answer_under(
    pipeline: Pipeline, question: Question, policy: str, judge: PolicyJudge, options: argparse.Namespace
) -> QueryResult:
    """Answer one question with policies. policy: names, separated by blanks."""
    names = tuple(policy.split())
    several = "best_of_n" in names
    params = SamplingParams(
        temperature=TEMPERATURE if several else 0.0,
        max_tokens=options.max_tokens,
        n=SAMPLES if several else 1,
        seed=options.seed,
    )
    threshold = None if names == ("none",) else options.threshold
    return answer_with_policy(
        pipeline,
        QueryRequest(question.text, "samples", params=params),
        PolicyRequest(names, threshold=threshold),
        judge,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="", help="model, as for plumbline query (default: the reader)")
    parser.add_argument("--every", type=int, default=6, help="every Nth sample question (default 6)")
    parser.add_argument("--questions", type=int, default=None, metavar="N", help="use N random questions instead")
    parser.add_argument("--draw-seed", type=int, default=0, help="seed of that draw (default 0)")
    parser.add_argument("--answers", type=Path, default=None, metavar="FILE", help="write every answer as JSON")
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--max-tokens", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--policies",
        nargs="+",
        default=POLICIES,
        metavar="NAMES",
        help="policies to compare; separate combined ones by blanks",
    )
    options = parser.parse_args()
    every = load_question_files(sample_question_paths())
    questions = every[:: options.every]
    if options.questions is not None:
        chosen = np.random.default_rng(options.draw_seed).permutation(len(every))[: options.questions]
        questions = tuple(every[i] for i in sorted(chosen))
    results: dict[str, list[QueryResult]] = {policy: [] for policy in options.policies}
    with TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder), database="", encoder="", model=options.model, device="cpu")
        with Pipeline(settings) as pipeline:
            pipeline.index("samples", load_documents([sample_corpus_path()]))
            judge = PolicyJudge(load_scorer(None, "cpu"))
            for question in questions:
                answer_under(pipeline, question, "none", judge, options)
                for policy in options.policies:
                    result = answer_under(pipeline, question, policy, judge, options)
                    results[policy].append(result)
                    if options.answers is not None:
                        with options.answers.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(answer_row(question, policy, result)) + "\n")
    rows = [row(policy, questions, results[policy]) for policy in options.policies]
    print(f"{'policy':26} {'rate':>20} {'answer rate':>20} {'unscored':>8} {'tokens':>12} {'seconds':>8}")
    for one in rows:
        rate, share = (
            "no answer" if a is None else f"{100 * a:.0f} % [{100 * b:.0f}, {100 * c:.0f}]"
            for a, b, c in (one.rate, one.answer_rate)
        )
        tokens = f"{one.prompt_tokens:.0f} + {one.completion_tokens:.0f}"
        print(f"{one.policy:26} {rate:>20} {share:>20} {one.unscored:>8} {tokens:>12} {one.seconds:>8.2f}")
    print(json.dumps({"model": options.model or "reader", "rows": [asdict(one) for one in rows]}))


if __name__ == "__main__":
    main()
