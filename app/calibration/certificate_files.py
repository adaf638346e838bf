"""Write, sign, read and check certificate files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from app.calibration.home_key import HomeKey, known_home_key, open_home_key
from app.errors import AppError
from data.atomic_write import atomic_write
from data.columns import utc_now
from data.private import make_private_folder, private_opener
from data.refused import shown
from evaluation.errors import EvaluationError
from evaluation.guarantee.certificate import Certificate, Deployment, canonical, certificate_from_json, changes

FOLDER = "certificates"
_LARGEST = 1 << 20
_CLOCK_TOLERANCE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class CertificateCheck:
    """The result of checking a certificate file.

    certificate: None if the file contains no readable certificate. problems: reasons why the certificate is invalid;
    empty if it is valid.
    """

    path: Path
    certificate: Certificate | None
    problems: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Whether the certificate is valid."""
        return self.certificate is not None and not self.problems


@dataclass(frozen=True, slots=True)
class PublishedCollection:
    """The published index generation of a collection.

    generation: hash of the generation, "" if there is none. published_at: time of publication, if known.
    """

    generation: str
    published_at: datetime | None = None


class CertificateFiles:
    """The certificates of one home: ``HOME/certificates/ID.json``, signed with ``HOME/certificates/signing.key``."""

    def __init__(self, home: Path) -> None:
        self.folder = home / FOLDER

    @property
    def key(self) -> HomeKey:
        """Signing key of the home, which is created on first use. Raises the errors of ``open_home_key``."""
        return open_home_key(self.folder)

    def save(self, certificate: Certificate) -> Path:
        """Sign the certificate, write it atomically with access for its owner only, and return its path.

        Raises AppError if the clock was set back, OSError if the file cannot be written.
        """
        newest = max((c.certificate.date for c in self.check_all() if c.valid and c.certificate), default=None)
        if newest is not None and certificate.date < newest - _CLOCK_TOLERANCE:
            raise AppError(
                f"the clock was set back: it says {certificate.created_at}, but this home has a certificate "
                f"of {newest.isoformat()}. Set the clock, then calibrate again"
            )
        make_private_folder(self.folder)
        path = self.folder / f"{certificate.id}.json"
        text = json.dumps(signed(certificate, self.key), indent=2, sort_keys=True)
        with atomic_write(path) as part, open(part, "w", encoding="utf-8", opener=private_opener) as file:
            file.write(text + "\n")
        return path

    def check_all(self) -> tuple[CertificateCheck, ...]:
        """Check signatures and dates of all certificates of the home, newest first. Deployments are not compared."""
        found = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                found.append(self.check(path))
            except AppError as error:
                found.append(CertificateCheck(path, None, (str(error),)))
        return tuple(sorted(found, key=lambda c: c.certificate.created_at if c.certificate else "", reverse=True))

    def check(
        self,
        path: Path,
        *,
        now: Deployment | None = None,
        collection: PublishedCollection | None = None,
        clock: datetime | None = None,
    ) -> CertificateCheck:
        """Read a certificate file and list all its problems.

        now: the current deployment, which is compared field by field; None to leave this out. collection: the published
        state of the certificate's collection; None to leave this out. clock: current time, by default that of this
        machine. Raises AppError if the file cannot be read.
        """
        envelope = _read(path)
        problems = _signature_problems(envelope, known_home_key(self.folder))
        try:
            certificate = certificate_from_json(envelope.get("certificate"))
        except EvaluationError as error:
            return CertificateCheck(path, None, (*problems, str(error)))
        if certificate.id != certificate.digest and not problems:
            problems = (f"the id {certificate.id} does not match the fields (they give {certificate.digest})",)
        problems += _date_problems(certificate, clock or utc_now(), collection)
        if now is not None:
            problems += tuple(str(change) for change in changes(certificate, now))
        return CertificateCheck(path, certificate, problems)

    def find(self, alpha: float, now: Deployment, *, clock: datetime | None = None) -> Certificate:
        """Return the valid certificate for this deployment and rate that answers the largest share of questions.

        alpha: maximum rate of the certificate. Raises AppError with the reason why each certificate of the home does
        not apply.
        """
        reasons: list[str] = []
        fitting: list[Certificate] = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                check = self.check(path, now=now, clock=clock)
            except AppError as error:
                reasons.append(str(error))
                continue
            found = check.certificate
            if found is None or check.problems:
                reasons.append(f"{path.stem}: {'; '.join(check.problems)}")
            elif found.alpha > alpha:
                reasons.append(f"{path.stem}: its alpha is {found.alpha:g}")
            else:
                fitting.append(found)
        if fitting:
            return max(fitting, key=lambda c: (c.answer_rate, c.created_at))
        why = f" ({' | '.join(reasons)})" if reasons else ""
        raise AppError(f"no valid certificate guarantees that at most {alpha:g} of the answers hallucinate{why}")


def signed(certificate: Certificate, key: HomeKey) -> dict[str, Any]:
    """Return the content of a certificate file: the fields, the key ID, and the signatures.

    There is one signature of all fields and one of each field. Each of the latter also covers the certificate's ID, so
    that fields of two certificates cannot be mixed.
    """
    values = certificate.to_json()
    return {
        "certificate": values,
        "key_id": key.id,
        "signature": key.sign("certificate", canonical(values)),
        "field_signatures": {
            name: key.sign(f"field {name} of {certificate.id}", canonical(value)) for name, value in values.items()
        },
    }


def _signature_problems(envelope: dict[str, Any], key: HomeKey | None) -> tuple[str, ...]:
    values, signature, key_id = (envelope.get(name) for name in ("certificate", "signature", "key_id"))
    if not isinstance(values, dict) or not isinstance(signature, str) or not isinstance(key_id, str):
        return ("this is not a signed certificate: certificate, key_id or signature is missing",)
    if key is None:
        return (f"signed with the key of another home ({key_id[:32]}; this home has no key): calibrate here",)
    try:
        if key.fits("certificate", canonical(values), signature):
            return () if key_id == key.id else ("edited after it was signed: key_id",)
    except ValueError:  # a number that JSON cannot represent
        return ("edited after it was signed: a value is not a finite number",)
    if key_id != key.id:
        return (f"signed with the key of another home ({key_id[:32]}; this home's is {key.id}): calibrate here",)
    signatures = envelope.get("field_signatures")
    known = signatures if isinstance(signatures, dict) else {}
    edited = [
        name
        for name in sorted({*values, *known})
        if name not in values
        or not isinstance(known.get(name), str)
        or not key.fits(f"field {name} of {values.get('id')}", canonical(values[name]), known[name])
    ]
    # If only the id was edited, no field signature matches.
    named = "id" if len(edited) == len(values) else ", ".join(edited) or "signature"
    return (f"edited after it was signed: {named}",)


def _date_problems(
    certificate: Certificate, clock: datetime, collection: PublishedCollection | None
) -> tuple[str, ...]:
    problems: list[str] = []
    if certificate.date > clock + _CLOCK_TOLERANCE:
        problems.append(
            f"dated {certificate.created_at}, later than this machine's clock ({clock.isoformat(timespec='seconds')}): "
            "the clock was set back"
        )
    if collection is not None and certificate.deployment.generation != collection.generation:
        published = collection.published_at
        older = published is not None and published > certificate.date
        when = f", published {published.isoformat(timespec='seconds')}" if published else ""
        problems.append(
            f"{'older than its collection' if older else 'of another state of its collection'}: certified for the "
            f"generation {certificate.deployment.generation[:12] or 'none'}, {certificate.collection or 'it'} is "
            f"{collection.generation[:12] or 'gone'} now{when}"
        )
    return tuple(problems)


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise AppError(f"the certificate {shown(path)} cannot be read: {error.strerror}") from error
    if len(content) > _LARGEST:
        raise AppError(f"{shown(path)} is larger than a certificate can be ({_LARGEST >> 20} MB)")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise AppError(f"{shown(path)} is not a certificate: it is not JSON ({error})") from error
    if not isinstance(found, dict):
        raise AppError(f"{shown(path)} is not a certificate: it is not a JSON object")
    return found
