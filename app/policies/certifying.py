"""Find the certificate for a query with a guaranteed rate. It must match the deployment that answers exactly."""

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
"""Maximum length of the reasons in a message, in characters. A home may have hundreds of old certificates."""


class NoCertificateError(AppError):
    """No valid certificate guarantees the requested rate for this deployment."""


@dataclass(frozen=True, slots=True)
class ResolvedPolicy:
    """A plan with its verifier and certificate.

    verifier: name of the verifier whose scores the policies use. search: search in which the verifier finds evidence;
    None if it judges by the passages of the prompt. certificate: None if no rate was requested.
    """

    plan: PolicyPlan
    verifier: str
    search: Search | None = None
    certificate: Certificate | None = None


def resolve_policy(
    pipeline: Pipeline,
    judge: PolicyJudge | None,
    policy_request: PolicyRequest,
    plan: PolicyPlan,
    request: QueryRequest,
    collection: str | None,
    search: Search | None,
    instructions: str = "",
) -> ResolvedPolicy:
    """Return the plan, with the certified threshold and verifier if a rate is requested.

    judge: None if the plan needs none. collection: stored name of the collection that is searched. search: search that
    found the passages of the question. instructions: the caller's instructions, "" if there are none. Raises
    NoCertificateError with the reason for every certificate of the home, and the errors of opening the judge's search.
    """
    if judge is None:
        return ResolvedPolicy(plan, "")
    if policy_request.max_rate is None or search is None or collection is None:
        return ResolvedPolicy(plan, judge.name)
    files = CertificateFiles(pipeline.home)
    verifiers: list[tuple[str, Search | None]] = [(judge.name, None)]
    if not plan.changes_texts:  # the searching verifiers of a run judge unchanged answers only
        trusted = pipeline.search(collection)
        verifiers += [(name, trusted) for name in judge.searching_names(trusted)]
    deployment = deployment_of(pipeline, request, plan, search, judge.name, instructions)
    reasons: list[str] = []
    for verifier, evidence_search in verifiers:
        try:
            found = files.find(policy_request.max_rate, replace(deployment, verifier=verifier))
        except AppError as error:
            reasons.append(str(error))
        else:
            # Policies that change texts keep their threshold from the run.
            threshold = found.threshold
            certified = replace(plan, certified=threshold) if plan.changes_texts else replace(plan, threshold=threshold)
            return ResolvedPolicy(certified, verifier, evidence_search, found)
    # A certificate for another verifier has one more reason, so the shortest list has only the relevant reasons.
    reason = min(reasons, key=len).replace(f"{files.folder}/", "")
    if len(reason) > _LONGEST:
        reason = f"{reason[:_LONGEST]}... (plumbline calibrate --list shows all)"
    raise NoCertificateError(
        f"{reason}. To create one, label a run with these settings, then use plumbline calibrate RUN --alpha "
        f"{policy_request.max_rate:g}"
    )


def deployment_of(
    pipeline: Pipeline, request: QueryRequest, plan: PolicyPlan, search: Search, verifier: str, instructions: str = ""
) -> Deployment:
    """Return the deployment that answers a request, described with the settings that a run records.

    A request may have settings that a run cannot have: a style, the caller's instructions, or a logit bias. These are
    added to the description, so that no certificate matches.
    """
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
