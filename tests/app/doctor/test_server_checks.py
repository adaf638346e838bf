"""Each check of a model server, on a healthy server and on servers with the fault that it detects."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.commands import doctor
from app.console import Output
from app.doctor.cancellation import cancellation
from app.doctor.context import context
from app.doctor.findings import Finding
from app.doctor.logprobs import logprobs
from app.doctor.model_names import model_names
from app.doctor.prefix_cache import prefix_cache
from app.doctor.repeatability import repeatability
from app.doctor.samples import samples
from app.doctor.server_checks import CHECKS
from app.doctor.speed import concurrency_finding, speed
from app.doctor.streaming import streaming
from generation.remote.probe import ServerProbe

Probe = Callable[..., ServerProbe]
Check = Callable[[ServerProbe], Iterator[Finding]]


def look(check: Check, probe: ServerProbe) -> dict[str, Finding]:
    return {finding.check: finding for finding in check(probe)}


def test_a_healthy_server_loses_nothing(probe: Probe) -> None:
    healthy = probe()
    found = {name: finding for _, check in CHECKS for name, finding in look(check, healthy).items()}
    timed = {"server concurrency"}  # its status depends on the load of this machine
    assert {name: f.found for name, f in found.items() if f.status != "ok" and name not in timed} == {}
    assert len(found) == 13
    assert found["server speed"].figures["tokens"] == 32
    assert found["server concurrency"].figures["requests"] == 6
    assert found["server context"].figures["context_length"] == 600
    assert found["server seeds"].figures["seed_honoured"] is True
    assert found["server n"].figures == {"n_honoured": True, "choices_differ": True}
    assert found["server logprobs"].figures["scaled_by_temperature"] is False
    assert found["server streaming"].figures["pieces"] == 32
    assert found["server streams together"].figures == {"streams": 3, "broken_off": 0}


@pytest.mark.parametrize(
    ("faults", "check", "name", "status", "figures"),
    [
        (["no_list"], model_names, "server model", "ok", {"listed": False, "refuses_others": True}),
        (["any_name"], model_names, "server model", "ok", {"listed": True, "refuses_others": False}),
        (["any_name", "no_list"], model_names, "server model", "warn", {"listed": False, "refuses_others": False}),
        (["no_usage"], speed, "server speed", "warn", {}),
        (["never_repeats"], repeatability, "server repeatability", "warn", {"greedy_agrees": False}),
        (["never_repeats"], repeatability, "server seeds", "warn", {"same_seed_agrees": False, "seed_honoured": False}),
        (["never_repeats"], repeatability, "server repeatability under load", "warn", {}),
        (["ignores_seeds"], repeatability, "server seeds", "warn", {"other_seed_differs": False}),
        (
            ["changes_under_load"],
            repeatability,
            "server repeatability under load",
            "warn",
            {"greedy_agrees_under_load": False, "sampled_agrees_under_load": False},
        ),
        (["ignores_n"], samples, "server n", "ok", {"n_honoured": False}),
        (["refuses_n"], samples, "server n", "ok", {"n_honoured": False}),
        (["no_logprobs"], logprobs, "server logprobs", "warn", {"logprobs": False}),
        (["refuses_logprobs"], logprobs, "server logprobs", "warn", {"logprobs": False}),
        (["half_logprobs"], logprobs, "server logprobs", "warn", {"values": 16, "tokens": 32}),
        (["scales_logprobs"], logprobs, "server logprobs", "warn", {"scaled_by_temperature": True}),
        (["lists_context"], context, "server context", "ok", {"context_length": 600}),
        (["cuts_prompts"], context, "server context", "fail", {"read_tokens": 300}),
        (["no_cache"], prefix_cache, "server prefix cache", "warn", {"cached_tokens": None}),
        (["one_piece"], streaming, "server streaming", "warn", {"pieces": 1}),
        (["no_usage"], streaming, "server streaming", "warn", {"usage": False}),
        (["no_end"], streaming, "server streaming", "fail", {"ended": False}),
        (["never_repeats"], streaming, "server streaming", "warn", {"same_as_unstreamed": False}),
        (["interrupts"], streaming, "server streams together", "warn", {"streams": 3}),
        (["finishes_alone"], cancellation, "server cancellation", "warn", {}),
    ],
)
def test_a_fault_is_named_with_what_it_costs(
    probe: Probe, faults: list[str], check: Check, name: str, status: str, figures: dict[str, object]
) -> None:
    finding = look(check, probe(*faults))[name]
    assert finding.status == status, finding
    assert figures.items() <= finding.figures.items(), finding
    assert (finding.advice is None) == (status == "ok")


@pytest.mark.parametrize(("together", "status"), [(12.9, "warn"), (13.1, "ok")])
def test_requests_at_once_must_be_faster_than_one_alone(together: float, status: str) -> None:
    finding = concurrency_finding(rate=10.0, total=together, slowest=2.0, count=6)
    assert (finding.status, finding.figures["requests"]) == (status, 6)


@pytest.mark.parametrize(("configured", "status"), [(300, "ok"), (601, "warn"), (5000, "warn")])
@pytest.mark.parametrize("faults", [[], ["lists_context"]])
def test_the_context_is_compared_with_the_configured_one(
    probe: Probe, configured: int, status: str, faults: list[str]
) -> None:
    finding = look(context, probe(*faults, context_length=configured))["server context"]
    assert finding.status == status
    if status == "warn":
        assert finding.advice is not None and "--model-context 600" in finding.advice


def run_doctor(home: Path, model: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    arguments = argparse.Namespace(home=home, model=model, encoder=None, device=None, json=True)
    code = doctor.run(arguments, Output(as_json=True))
    return code, json.loads(capsys.readouterr().out)


def test_the_command_measures_the_server_of_its_model(
    fake_server: Any, small_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = run_doctor(small_home, f"openai:{fake_server('refuses_logprobs').url}#tiny", capsys)
    checks = {check["check"]: check for check in report["checks"]}
    assert (code, report["status"]) == (0, "warn")
    assert {name for name, _ in CHECKS} <= set(checks)
    assert checks["server logprobs"]["status"] == "warn"
    assert checks["server speed"]["figures"]["tokens_per_second"] > 0
    assert "4096" in checks["server context"]["found"]


@pytest.mark.parametrize(("path", "message"), [("http://127.0.0.1:9/v1#tiny", "127.0.0.1:9"), ("{url}#other", "tiny")])
def test_a_server_that_cannot_be_measured_is_one_failure(
    fake_server: Any,
    small_home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    message: str,
) -> None:
    monkeypatch.setattr("generation.remote.connection.backoff", lambda *_: 0.0)
    code, report = run_doctor(small_home, "openai:" + path.format(url=fake_server().url), capsys)
    checks = {check["check"]: check for check in report["checks"]}
    assert (code, checks["model"]["status"]) == (1, "fail")
    assert message in checks["model"]["found"]
    assert not any(name.startswith("server") for name in checks)
