"""The certificate that a query with a guaranteed rate rests on: of exactly what answers it, or an error."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from app.answers import QueryRequest
from app.calibration.certificate_files import CertificateFiles
from app.errors import AppError
from app.models.generators import prompt_hash
from app.pipeline import Pipeline
from app.policies.judging import PolicyJudge
from app.policies.policy_request import PolicyRequest
from evaluation.guarantee.certificate import Certificate, Deployment
from evaluation.policies.plan import PolicyPlan
from evaluation.runs.run_config import Decoding
from retrieval.search import Search

_LONGEST = 2000
"""Characters of reasons in a message: a home may have hundreds of old certificates."""


class NoCertificateError(AppError):
    """No valid certificate of the home guarantees the rate for what would answer."""


@dataclass(frozen=True, slots=True)
class SettledPolicy:
    """The plan as it runs. verifier: whose scores it uses. search: where that looks for evidence, None for the passages
    of the prompt. certificate: None where no rate is asked for."""

    plan: PolicyPlan
    verifier: str
    search: Search | None = None
    certificate: Certificate | None = None


def settle(
    pipeline: Pipeline,
    judge: PolicyJudge | None,
    wanted: PolicyRequest,
    plan: PolicyPlan,
    request: QueryRequest,
    collection: str | None,
    search: Search | None,
    instructions: str = "",
) -> SettledPolicy:
    """The plan with the certified threshold and verifier where a rate is asked for.

    judge: None where the plan needs none. collection: stored name of the one searched. search: that the question was
    put to. instructions: of the caller's own. Raises NoCertificateError with the reason for every certificate of the
    home, and what opening the search of the judge raises.
    """
    if judge is None:
        return SettledPolicy(plan, "")
    if wanted.max_rate is None or search is None or collection is None:
        return SettledPolicy(plan, judge.name)
    files = CertificateFiles(pipeline.home)
    verifiers: list[tuple[str, Search | None]] = [(judge.name, None)]
    if not plan.changes_texts:  # runs store what other verifiers make of answers as drawn, not of these policies
        trusted = pipeline.search(collection)
        verifiers += [(name, trusted) for name in judge.searching_names(trusted)]
    now = deployment_of(pipeline, request, plan, search, judge.name, instructions)
    reasons: list[str] = []
    for verifier, looked_up in verifiers:
        try:
            found = files.find(wanted.max_rate, replace(now, verifier=verifier))
        except AppError as error:
            reasons.append(str(error))
        else:
            # Policies that change texts keep the threshold that they had in the run.
            at = found.threshold
            certified = replace(plan, certified=at) if plan.changes_texts else replace(plan, threshold=at)
            return SettledPolicy(certified, verifier, looked_up, found)
    # A certificate of another of these verifiers has one reason more; the shortest list names what is really wrong.
    why = min(reasons, key=len).replace(f"{files.folder}/", "")
    if len(why) > _LONGEST:
        why = f"{why[:_LONGEST]}... (plumbline calibrate --list names all)"
    raise NoCertificateError(
        f"{why}. plumbline calibrate RUN --alpha {wanted.max_rate:g} makes one, from a labelled run with these settings"
    )


def deployment_of(
    pipeline: Pipeline, request: QueryRequest, plan: PolicyPlan, search: Search, verifier: str, instructions: str = ""
) -> Deployment:
    """What answers a request, in the words of a run. Whatever a run cannot have (a style, instructions of the caller,
    biased tokens) is added to them, so that no certificate fits."""
    generator, params = pipeline.generator, request.params
    decoding = Decoding(
        float(params.temperature),
        params.top_k,
        float(params.top_p),
        params.max_tokens,
        params.stop,
        float(params.min_p),
        float(params.repetition_penalty),
    ).label
    if request.style != "short":
        decoding += f" style={request.style}"
    if params.logit_bias:
        decoding += " logit_bias"
    prompt = prompt_hash(generator, pipeline.settings.prompt)
    if instructions:
        prompt = f"instructions {hashlib.sha256(instructions.encode()).hexdigest()[:12]} {prompt}"
    return Deployment(
        model=generator.fingerprint,
        prompt=prompt,
        verifier=verifier,
        generation=search.retriever.generation_hash,
        encoder=pipeline.encoder.fingerprint,
        retrieval=f"k={request.k} {search.settings}",
        decoding=decoding,
        policy=plan.certified_name(params.n),
    )
