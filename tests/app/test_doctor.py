"""``plumbline doctor`` on healthy and broken installations."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from app.commands import doctor
from app.console import Output
from app.doctor import diagnosis
from app.doctor.diagnosis import diagnose
from app.doctor.findings import Finding
from app.pipeline import Pipeline
from app.settings import Settings
from data.schema import collections


def found(pipeline: Pipeline) -> dict[str, Finding]:
    return {finding.check: finding for finding in diagnose(pipeline)}


def failures(pipeline: Pipeline) -> set[str]:
    return {finding.check for finding in diagnose(pipeline) if finding.status == "fail"}


def test_a_healthy_installation(make_pipeline: Any, small_settings: Settings) -> None:
    findings = found(make_pipeline(small_settings))
    assert [finding for finding in findings.values() if finding.status == "fail"] == []
    assert set(findings) >= {"python", "plumbline", "torch", "faiss-cpu", "bm25s", "sqlite", "cpu", "memory"}
    assert set(findings) >= {"home", "schema", "database", "minilm", "encoder", "model", "collection notes"}
    assert "3 documents" in findings["collection notes"].found
    assert "plumbline-reader" in findings["model"].found
    assert all(finding.advice for finding in findings.values() if finding.status != "ok")


def test_it_makes_nothing(make_pipeline: Any, make_settings: Callable[..., Settings], tmp_path: Path) -> None:
    findings = found(make_pipeline(make_settings(tmp_path / "not" / "there")))
    assert "created on first use" in findings["home"].found
    assert "created on first use" in findings["database"].found
    assert findings["collections"].status == "ok"
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_index(make_pipeline: Any, make_settings: Callable[..., Settings], home_copy: Path) -> None:
    (vectors,) = home_copy.rglob("vectors.faiss")
    vectors.write_bytes(b"\0" + vectors.read_bytes()[1:])
    finding = found(make_pipeline(make_settings(home_copy)))["collection notes"]
    assert finding.status == "fail"
    assert "vectors.faiss" in finding.found
    assert finding.advice is not None
    assert "plumbline index" in finding.advice


def test_a_missing_index_and_one_that_never_ended(
    make_pipeline: Any, make_settings: Callable[..., Settings], home_copy: Path
) -> None:
    (vectors,) = home_copy.rglob("vectors.faiss")
    vectors.unlink()
    pipeline = make_pipeline(make_settings(home_copy))
    with pipeline.store.write() as connection:
        connection.execute(insert(collections).values(name="half"))
    findings = found(pipeline)
    assert findings["collection notes"].status == "fail"
    assert findings["collection half"].status == "warn"


def test_another_encoder(make_pipeline: Any, make_settings: Callable[..., Settings], home_copy: Path) -> None:
    class OtherEncoder:
        fingerprint = "f" * 64
        dimension = 3

    pipeline = make_pipeline(make_settings(home_copy))
    pipeline.__dict__["encoder"] = OtherEncoder()
    finding = found(pipeline)["collection notes"]
    assert finding.status == "fail"
    assert "another encoder" in finding.found


@pytest.mark.parametrize("damage", ["weights", "facts", "truncated", "missing", "folder"])
def test_a_damaged_reader(
    make_settings: Callable[..., Settings],
    small_pipeline: Pipeline,
    small_home: Path,
    reader_folder: Path,
    tmp_path: Path,
    damage: str,
) -> None:
    model = tmp_path / "reader"
    model.mkdir()
    weights = (reader_folder / "reader.safetensors").read_bytes()
    facts = (reader_folder / "reader.json").read_bytes()
    if damage == "weights":
        weights = weights[:-1] + bytes([weights[-1] ^ 1])
    elif damage == "truncated":
        weights = weights[:1000]
    elif damage == "facts":
        facts = b"{"
    (model / "reader.safetensors").write_bytes(weights)
    (model / "reader.json").write_bytes(facts)
    if damage == "missing":
        (model / "reader.safetensors").unlink()
    name = tmp_path / "elsewhere" if damage == "folder" else model
    pipeline = Pipeline(make_settings(small_home, model=str(name)))
    pipeline.__dict__["encoder"] = small_pipeline.encoder
    with pipeline:
        findings = found(pipeline)
    assert findings["model"].status == "fail"
    assert str(name) in findings["model"].found
    assert findings["collection notes"].status == "ok"


def test_a_home_that_cannot_be_written(
    make_pipeline: Any, make_settings: Callable[..., Settings], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert "home" in failures(make_pipeline(make_settings(tmp_path / "file" / "home")))
    # A folder of the kernel's, which not even root may write to.
    assert "home" in failures(make_pipeline(make_settings(Path("/proc/plumbline"))))


def test_a_damaged_database(make_pipeline: Any, make_settings: Callable[..., Settings], home_copy: Path) -> None:
    (home_copy / "plumbline.db").write_bytes(b"no database " * 1000)
    assert {"database", "collections"} <= failures(make_pipeline(make_settings(home_copy)))


@pytest.mark.parametrize("url", ["sqlite://", "mysql://host/name", "nonsense", "sqlite:////proc/plumbline/x.db"])
def test_a_database_url_that_cannot_be_used(
    make_pipeline: Any, make_settings: Callable[..., Settings], tmp_path: Path, url: str
) -> None:
    findings = found(make_pipeline(make_settings(tmp_path, database=url)))
    assert findings["database"].status == "fail"
    assert findings["database"].advice


def test_a_device_that_is_not_there(make_settings: Callable[..., Settings], small_home: Path) -> None:
    with Pipeline(make_settings(small_home, device="toaster")) as pipeline:
        assert {"device", "encoder", "model"} <= failures(pipeline)


def test_a_package_that_is_missing_or_broken(
    make_pipeline: Any, small_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken_for_doctor.py").write_text("raise OSError('undefined symbol: frob')")
    monkeypatch.syspath_prepend(tmp_path)
    packages = (("no-such-thing-at-all", "nothing"), ("torch", "broken_for_doctor"))
    monkeypatch.setattr(diagnosis, "PACKAGES", packages)
    findings = found(make_pipeline(small_settings))
    assert findings["no-such-thing-at-all"].found == "not installed"
    assert "undefined symbol" in findings["torch"].found
    assert findings["torch"].status == "fail"


def run_doctor(home: Path, model: Path, *, as_json: bool) -> int:
    arguments = argparse.Namespace(home=home, model=str(model), encoder=None, device=None, json=as_json)
    return doctor.run(arguments, Output(as_json=as_json))


def test_the_command_prints_each_finding(
    small_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    reader_folder: Path,
) -> None:
    monkeypatch.delenv("PLUMBLINE_DATABASE", raising=False)
    assert run_doctor(small_home, reader_folder, as_json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("ok   collection notes: 3 documents") for line in lines)
    assert run_doctor(small_home, tmp_path / "none", as_json=True) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["status"] == "fail"
    (model,) = [check for check in report["checks"] if check["check"] == "model"]
    assert model["status"] == "fail"
    assert model["advice"]


def test_a_wrong_setting_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLUMBLINE_MAX_QUEUE", "many")
    assert run_doctor(tmp_path, tmp_path, as_json=False) == 1
    out = capsys.readouterr().out
    assert out.startswith("fail settings: PLUMBLINE_MAX_QUEUE: ")
