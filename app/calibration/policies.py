"""Calibrate several policies of one run together. The certificates share delta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from app.calibration.calibrating import Calibration, CalibrationRequest, calibrate
from app.errors import AppError, UsageError
from app.pipeline import Pipeline
from data.columns import utc_now
from evaluation.correction.label_store import LabelStore
from evaluation.errors import EvaluationError
from evaluation.modifiers.arm_names import parse_arm
from evaluation.policy_names import is_policy
from evaluation.runs.run_store import RunStore

BASE = "rag"


def calibrate_policies(
    pipeline: Pipeline, request: CalibrationRequest, policies: Sequence[str], *, clock: datetime | None = None
) -> tuple[Calibration, ...]:
    """Calibrate the labelled arms of these policies, each test at delta / (number of alphas * number of policies).

    policies: names of policies, such as ``none`` or ``strip``; if empty, all labelled ones. ``abstain`` is ignored in
    names, because calibration adds it. request: settings of all calibrations; its arm and offers are replaced. Raises
    UsageError for a policy without labels, AppError for a run without policies, and the errors of ``calibrate``.
    """
    arms = labelled_policies(pipeline, request.run_id, policies)
    now = clock or utc_now()
    return tuple(calibrate(pipeline, replace(request, arm=arm, offers=len(arms)), clock=now) for arm in arms)


def labelled_policies(pipeline: Pipeline, run_id: str, policies: Sequence[str]) -> tuple[str, ...]:
    """Return the labelled arms of these policies.

    ``flag`` and ``abstain`` are removed from names, because they do not change the certificate. Arms that then have the
    same name are returned once.
    """
    requested = tuple(dict.fromkeys(_calibrated(policy) for policy in policies))
    info = RunStore(pipeline.store).load_run(run_id)
    stored = LabelStore(pipeline.store).load_draw(info.id)
    drawn = () if stored is None else stored.draw.arms
    there = tuple(arm for arm in drawn if arm == BASE or _only_policies(arm))
    if not any(_only_policies(arm) for arm in there):
        raise AppError(
            f"run {info.id} has no labelled answers of policies: generate them with plumbline evaluate QUESTIONS "
            "--policies none,strip, then label them with plumbline label"
        )
    arms = requested or tuple(dict.fromkeys(_calibrated(arm.partition("+")[2]) for arm in there))
    found = tuple(arm for arm in arms if arm in there)
    missing = next((arm for arm in arms if arm not in there), None)
    if missing is not None and (policies or not found):
        named = f"--policies {','.join(policies)}: " if policies else ""
        raise UsageError(f"{named}run {info.id} has labels of {', '.join(there)}, but not of {missing}")
    return found


def _only_policies(arm: str) -> bool:
    first, *parts = arm.split("+")
    return first == BASE and bool(parts) and all(map(is_policy, parts))


def _calibrated(policy: str) -> str:
    """Return the name of the arm whose labels certify a policy. Raises UsageError for an unknown policy."""
    kept = [part for part in policy.strip().split("+") if part not in ("", "none", "flag", "abstain")]
    try:
        return parse_arm("+".join((BASE, *kept))).text
    except EvaluationError as error:
        raise UsageError(f"--policies {policy}: {error}") from None
