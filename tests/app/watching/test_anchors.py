"""Anchors: labelled answers of a calibration, judged again by another verifier."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from app.accounts.tenants import tenant_collections
from app.errors import AppError
from app.policies.judging import PolicyJudge
from app.watching.anchors import anchor_state, check_certificate
from app.watching.status import Watching
from data.columns import utc_now
from evaluation.audits.anchor_store import AnchorStore
from evaluation.detection.baselines import TokenOverlapScorer
from model.pairs.scoring import Pair

Watch = Callable[..., SimpleNamespace]


class Rejecting(TokenOverlapScorer):
    """A scorer that supports nothing."""

    name = "rejecting/1"

    def score(self, pairs: Sequence[Pair], progress: Any = None) -> tuple[float, ...]:
        return (0.01,) * len(pairs)


def test_the_same_verifier_gives_the_same_scores_and_is_tested_once(watched: Any) -> None:
    certificate = watched.certify(watched.run())
    state, fresh = check_certificate(watched.line, certificate, watched.judge)
    assert fresh and state.result is not None and state.checks == 1
    assert (state.result.anchors, state.result.worse, state.result.better) == (12, 0, 0) and not state.raised
    assert state.verifier == watched.judge.name
    first, second = AnchorStore(watched.line.store).load(certificate.id)
    assert first.anchors == second.anchors and sum(a.hallucinated for a in first.anchors) == 4
    assert check_certificate(watched.line, certificate, watched.judge) == (state, False)
    again, fresh = check_certificate(watched.line, certificate, watched.judge, again=True)
    assert fresh and again.checks == 2 and again.result is not None
    assert again.result.level == pytest.approx(0.05 / 6)


def test_a_verifier_that_got_worse_raises_the_alarm_until_a_better_one_is_checked(watched: Any) -> None:
    certificate = watched.certify(watched.run(wrong=0))
    state, _ = check_certificate(watched.line, certificate, PolicyJudge(Rejecting()))
    assert state.raised and state.result is not None and state.result.worse == 12
    assert state.result.p_value == pytest.approx(0.5**12)
    (found,) = Watching(watched.line).status(tenant_collections(watched.line.store, ""))
    assert found.watches[0].alarms == ("verifier",)
    state, _ = check_certificate(watched.line, certificate, watched.judge)
    assert not state.raised and anchor_state(watched.line.store, certificate) == state


def test_later_labels_and_lost_answers_do_not_change_the_set(watched: Any) -> None:
    run = watched.run()
    certificate = watched.certify(run)
    check_certificate(watched.line, certificate, watched.judge)
    with watched.line.store.write() as connection:
        connection.exec_driver_sql(f"DELETE FROM samples WHERE run_id = '{run}'")
    state, _ = check_certificate(watched.line, certificate, PolicyJudge(Rejecting()))
    assert state.result is not None and (state.result.anchors, state.result.unscored) == (12, 12)


def test_a_clock_that_was_set_back(watched: Any) -> None:
    certificate = watched.certify(watched.run())
    check_certificate(watched.line, certificate, watched.judge, clock=utc_now() + timedelta(days=1))
    with pytest.raises(AppError, match="clock was set back"):
        check_certificate(watched.line, certificate, PolicyJudge(Rejecting()))
    assert len(AnchorStore(watched.line.store).load(certificate.id)) == 2


def test_the_command_checks_all_valid_certificates(watch: Watch, watched: Any) -> None:
    certificate = watched.certify(watched.run())
    ran = watch("anchors", "--json")
    (found,) = json.loads(ran.out)
    assert ran.code == 0 and found["certificate"] == certificate.id and found["new"]
    assert found["last"]["anchors"] == 12 and found["name"] == watched.judge.name
    text = watch("anchors", certificate.id)
    assert text.code == 0 and "has already judged these anchors" in text.err and "worse on 0" in text.out
    assert "check 1" in watch("status").out


def test_a_certificate_without_its_run_has_no_anchors(watch: Watch, watched: Any) -> None:
    watched.certify("gone")
    ran = watch("anchors")
    assert ran.code == 1 and "gone" in ran.err
    watched.certify(watched.run(), days=3)  # from the future
    assert watch("anchors").code == 1
