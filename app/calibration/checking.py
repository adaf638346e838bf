"""Check whether a certificate file is valid in this home: signature, dates, collection, and the configured model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.calibration.calibrating import published_collection
from app.calibration.certificate_files import CertificateCheck, CertificateFiles
from app.errors import USER_ERRORS
from app.models.generators import prompt_hash
from app.pipeline import Pipeline
from evaluation.guarantee.certificate import Certificate, changes


def check_here(pipeline: Pipeline, path: Path) -> CertificateCheck:
    """Check a certificate file against the key, clock and collection of this home and the configured model and prompt.

    Verifier, retrieval and decoding depend on the query, so they are compared when a query requests the certificate.
    Raises AppError if the file cannot be read.
    """
    files = CertificateFiles(pipeline.home)
    check = files.check(path)
    found = check.certificate
    if found is None:
        return check
    if found.deployment.generation:
        check = files.check(path, collection=published_collection(pipeline, found.collection))
    return replace(check, problems=(*check.problems, *_model_problems(pipeline, found)))


def _model_problems(pipeline: Pipeline, certificate: Certificate) -> tuple[str, ...]:
    try:
        generator = pipeline.generator
        now = replace(
            certificate.deployment,
            model=generator.fingerprint,
            prompt=prompt_hash(generator, pipeline.settings.prompt),
        )
    except USER_ERRORS as error:
        return (f"the configured model cannot be opened to compare it: {error}",)
    return tuple(str(change) for change in changes(certificate, now))
