"""Answer a query with policies outside the service: generate, judge, apply the policies, and store the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.answering.answer_parts import Answer, sources_of
from app.answering.policy_json import PolicyResult
from app.answers import QueryRequest, QueryResult
from app.judging.run_judge import load_scorer
from app.pipeline import Pipeline, PreparedQuery, query_seed
from app.policies.certifying import ResolvedPolicy, resolve_policy
from app.policies.judging import PolicyJudge, PolicyJudging
from app.policies.policy_request import PolicyRequest, plan_of
from app.retrieval.chunk_locations import chunk_locations
from evaluation.outcomes import AnswerEvaluation
from evaluation.policies.merging import merged_passages
from evaluation.policies.outcome import PolicyOutcome
from evaluation.policies.running import run_now, run_policies
from generation.completion import Completion
from generation.generator import Generator
from generation.live import InstructedGenerator
from generation.prompt import Prompt
from retrieval.chunking.chunks import RetrievedChunk


def answer_with_policy(
    pipeline: Pipeline, request: QueryRequest, policy_request: PolicyRequest, judge: PolicyJudge | None = None
) -> QueryResult:
    """Answer a question as ``Pipeline.answer`` does, with policies applied to the answers.

    judge: the verifier; by default the shipped one, which is loaded only if a policy judges. Raises PolicyError for an
    invalid request, NoCertificateError if the requested rate is not certified (nothing is generated then), and the
    errors of ``Pipeline.answer``.
    """
    plan = plan_of(policy_request, request)
    prepared = pipeline.prepare(request)
    if plan.judges:
        judge = judge or PolicyJudge(load_scorer(None, pipeline.device))
    resolved = resolve_policy(
        pipeline, judge if plan.judges else None, policy_request, plan, request, prepared.collection, prepared.search
    )
    drawn = pipeline.draw(prepared)
    outcome = run_now(
        run_policies(
            resolved.plan,
            request.question,
            prepared.prompt,
            [answer.completion for answer in drawn.answers],
            _Tools(pipeline, prepared, resolved, judge),
            verifier=resolved.verifier,
            drawing_s=drawn.timings.generation,
        )
    )
    result = with_policy(drawn, outcome, resolved, policy_request)
    if (prompt := new_prompt(outcome, prepared.prompt)) is not None:
        chunks = [c.retrieved.chunk for c in prompt.chunks] + [r.chunk for r in prompt.omitted]
        locations = chunk_locations(pipeline.store, prepared.collection or "", chunks)
        result = replace(result, sources=sources_of(prompt, locations))
    pipeline.keep([result], [prepared.collection])
    return result


def with_policy(
    drawn: QueryResult, outcome: PolicyOutcome, resolved: ResolvedPolicy, policy_request: PolicyRequest
) -> QueryResult:
    """Return the result with the answers that the policies produce."""
    judged = resolved.plan.judges
    return replace(
        drawn,
        answers=tuple(Answer(c.completion, c.evaluation if judged else None) for c in outcome.answers),
        policy=PolicyResult(outcome, resolved.certificate, policy_request.max_rate),
    )


def new_prompt(outcome: PolicyOutcome, prompt: Prompt) -> Prompt | None:
    """Return the prompt of the final answer if it differs from the first prompt, otherwise None."""
    last = outcome.answers[0].prompt
    return None if last is prompt else last


def correction_prompt(
    generator: Generator, request: QueryRequest, found: Sequence[RetrievedChunk], earlier: Prompt, instructions: str
) -> Prompt:
    """Return a prompt with the same question, whose passages alternate between ``found`` and the earlier prompt."""
    ranked = merged_passages(found, earlier)
    longest = request.params.max_tokens
    if instructions and isinstance(generator, InstructedGenerator):
        return generator.instructed_prompt(request.question, ranked, longest, instructions)
    return generator.prompt(request.question, ranked, longest)


@dataclass(frozen=True, slots=True)
class _Tools:
    """PolicyTools that run synchronously in the calling thread."""

    pipeline: Pipeline
    prepared: PreparedQuery
    resolved: ResolvedPolicy
    policy_judge: PolicyJudge | None

    @property
    def longest(self) -> int:
        return self.prepared.request.params.max_tokens

    async def judge(self, answers: Sequence[tuple[Prompt, Completion]]) -> tuple[AnswerEvaluation, ...]:
        if self.policy_judge is None:
            raise AssertionError("a policy that judges was run without a judge")
        item = PolicyJudging(self.prepared.request.question, tuple(answers), self.resolved.search)
        return self.policy_judge.judge([item])[0]

    async def search(self, query: str, earlier: Prompt) -> Prompt:
        request, search = self.prepared.request, self.prepared.search
        found = () if search is None else search.retrieve(query, request.k)
        return correction_prompt(self.pipeline.generator, request, found, earlier, "")

    async def draw(self, prompt: Prompt, number: int) -> Completion:
        request = self.prepared.request
        seed = query_seed(request.params.seed, request.params.n - 1 + number)
        return self.pipeline.complete(request, prompt, [seed])[0]
