"""``plumbline calibrate --policies``: certificates of several policies of one run, which share delta."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from app.calibration.calibrating import CalibrationRequest
from app.calibration.policies import calibrate_policies
from app.errors import AppError, UsageError

Run = Callable[..., tuple[int, str, str]]
STRIP, BEST = "strip(threshold=0.5)", "best_of_n(n=4 threshold=0.5)"


def with_policies(world: Any, **others: str) -> None:
    policies = {"rag+strip": STRIP, "rag+best_of_n:4": BEST, **others}
    world.settings = {arm: f"k=4 policy=[{name}] selector=[{world.verifier}]" for arm, name in policies.items()}
    world.arms = ("rag", *policies)


def test_each_policy_gets_a_certificate_and_all_share_delta(plumbline: Run, world: Any) -> None:
    with_policies(world)
    world.rate = 0.02
    run = world.store(500, 300)
    words = ("calibrate", run, "--policies", "--alpha", "0.1", "--alpha", "0.2", "--json")
    code, out, err = plumbline(*words)
    assert code == 0, err
    found = json.loads(out)["policies"]
    assert [one["policy"] for one in found] == ["abstain", f"{STRIP},abstain", f"{BEST},abstain"]
    for one in found:
        assert one["offers"] == 6
        for result in one["results"]:
            assert result["level"] == pytest.approx(0.05 / 6)
            certificate = result["certificate"]
            assert certificate["offers"] == 6 and certificate["p_value"] <= 0.05 / 6
            assert certificate["deployment"]["policy"] == one["policy"]
            assert certificate["deployment"]["retrieval"] == "k=4"
    assert len({result["file"] for one in found for result in one["results"]}) == 6
    code, out, _ = plumbline(*words[:-1])
    assert "delta 0.05 / 6" in out and f"policy: {STRIP},abstain" in out


def test_chosen_policies_only_and_what_abstain_and_flag_add_is_nothing(world: Any) -> None:
    with_policies(world, **{"rag+flag": "none", "rag+strip+abstain": f"{STRIP},abstain(0.5)"})
    run = world.store(200, 100)
    with world.pipeline() as pipeline:
        every = calibrate_policies(pipeline, CalibrationRequest(run), ())
        assert [one.arm for one in every] == ["rag", "rag+strip", "rag+best_of_n:4"]
        chosen = calibrate_policies(pipeline, CalibrationRequest(run), ("flag+abstain", "abstain+strip"))
    assert [(one.arm, one.request.offers) for one in chosen] == [("rag", 2), ("rag+strip", 2)]
    assert {result.sequence.delta for one in chosen for result in one.results} == {0.025}


def test_answers_that_a_fixed_threshold_withheld_are_not_calibrated(plumbline: Run, world: Any) -> None:
    with_policies(world, **{"rag+strip+abstain": f"{STRIP},abstain(0.5)"})
    run = world.store(40, 30)
    code, out, err = plumbline("calibrate", run, "--arm", "rag+strip+abstain")
    assert code == 2 and "rag+strip+abstain" in err and not out
    assert not (world.home / "certificates").exists()


def test_exit_code_3_where_no_policy_gets_a_certificate(plumbline: Run, world: Any) -> None:
    with_policies(world)
    world.rate = 0.9
    code, out, _ = plumbline("calibrate", world.store(200, 100), "--policies", "none,strip")
    assert code == 3 and out.count("cannot be certified") == 2


def test_a_policy_without_labels_and_a_run_without_policies(world: Any) -> None:
    bare = world.store(40, 30)
    with world.pipeline() as pipeline, pytest.raises(AppError, match="no labelled answers of policies"):
        calibrate_policies(pipeline, CalibrationRequest(bare), ())
    with_policies(world)
    run = world.store(40, 30, seed=4)
    with world.pipeline() as pipeline, pytest.raises(UsageError, match="correct"):
        calibrate_policies(pipeline, CalibrationRequest(run), ("none", "correct"))
