"""The world of the policies' tests, whose service audits every query."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.pipeline import Pipeline
from app.policies.judging import PolicyJudge
from tests.app.policies.conftest import TRUE, PolicyWorld, Says, policy_client, policy_judge

__all__ = ["policy_client", "policy_judge"]


@pytest.fixture
def policy_world(
    make_pipeline: Callable[..., Pipeline], make_settings: Any, home_copy: Path, policy_judge: PolicyJudge
) -> PolicyWorld:
    says = Says(TRUE)
    return PolicyWorld(make_pipeline(make_settings(home_copy, audit_rate=1.0), says), says, policy_judge)
