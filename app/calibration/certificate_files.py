"""Certificates on disk: written whole and signed field by field, read back, and what is wrong with them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from app.calibration.home_key import HomeKey, known_home_key, open_home_key
from app.errors import AppError
from data.columns import utc_now
from data.private import make_private_folder, private_opener
from data.refused import shown
from data.whole_file import whole_file
from evaluation.errors import EvaluationError
from evaluation.guarantee.certificate import Certificate, Deployment, canonical, certificate_from_json, changes

FOLDER = "certificates"
_LARGEST = 1 << 20
_CLOCK_TOLERANCE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class CertificateCheck:
    """certificate: None where the file holds none that can be read. problems: why it is void; none if it is valid."""

    path: Path
    certificate: Certificate | None
    problems: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Whether it may be relied on."""
        return self.certificate is not None and not self.problems


@dataclass(frozen=True, slots=True)
class PublishedCollection:
    """The generation that a collection answers from now, "" for none, and since when."""

    generation: str
    published_at: datetime | None = None


class CertificateFiles:
    """The certificates of one home: ``HOME/certificates/ID.json``, signed with ``HOME/certificates/signing.key``."""

    def __init__(self, home: Path) -> None:
        self.folder = home / FOLDER

    @property
    def key(self) -> HomeKey:
        """The home's key, made when first needed. Raises AppError as ``open_home_key`` does."""
        return open_home_key(self.folder)

    def save(self, certificate: Certificate) -> Path:
        """Sign and write it, whole or not at all, for its owner alone; returns the path. Raises AppError, OSError."""
        newest = max((c.certificate.date for c in self.check_all() if c.valid and c.certificate), default=None)
        if newest is not None and certificate.date < newest - _CLOCK_TOLERANCE:
            raise AppError(
                f"the clock was set back: it says {certificate.created_at}, and this home has a certificate of "
                f"{newest.isoformat()}. Set the clock, then calibrate again"
            )
        make_private_folder(self.folder)
        path = self.folder / f"{certificate.id}.json"
        text = json.dumps(signed(certificate, self.key), indent=2, sort_keys=True)
        with whole_file(path) as part, open(part, "w", encoding="utf-8", opener=private_opener) as file:
            file.write(text + "\n")
        return path

    def check_all(self) -> tuple[CertificateCheck, ...]:
        """All of the home, the newest first; signatures and dates are checked, deployments are not."""
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
        """Read a file and say all that is wrong with it. now: what answers, to compare every field with. collection:
        the one that the certificate is of, as published now. clock: the present time, by default this machine's.

        Raises AppError where the file cannot be read at all.
        """
        envelope = _read(path)
        problems = _signature_problems(envelope, known_home_key(self.folder))
        try:
            certificate = certificate_from_json(envelope.get("certificate"))
        except EvaluationError as error:
            return CertificateCheck(path, None, (*problems, str(error)))
        if certificate.id != certificate.digest and not problems:
            problems = (f"id {certificate.id} does not belong to these fields ({certificate.digest} does)",)
        problems += _date_problems(certificate, clock or utc_now(), collection)
        if now is not None:
            problems += tuple(str(change) for change in changes(certificate, now))
        return CertificateCheck(path, certificate, problems)

    def find(self, alpha: float, now: Deployment, *, clock: datetime | None = None) -> Certificate:
        """The valid certificate for this deployment with at most this alpha that answers most.

        Raises AppError that says, for every certificate of the home, why it is none.
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
        raise AppError(f"no valid certificate says that at most {alpha:g} of the answers hallucinate{why}")


def signed(certificate: Certificate, key: HomeKey) -> dict[str, Any]:
    """The file's content: the fields, the key's id, one signature of each field and one of all.

    A field's signature also covers the whole's digest, so that fields of two certificates cannot be mixed unnoticed.
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
        return ("it is no signed certificate: certificate, key_id or signature is missing",)
    if key is None:
        return (f"signed with the key of another home ({key_id[:32]}; this home has none): calibrate here",)
    try:
        if key.fits("certificate", canonical(values), signature):
            return () if key_id == key.id else ("edited after it was signed: key_id",)
    except ValueError:  # a number that JSON has no text for
        return ("edited after it was signed: a value is no finite number",)
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
    # With another id no field's signature fits; the id itself is what was edited then.
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
        raise AppError(f"{shown(path)} is no certificate: it is not JSON ({error})") from error
    if not isinstance(found, dict):
        raise AppError(f"{shown(path)} is no certificate: it is no JSON object")
    return found
