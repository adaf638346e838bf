"""``plumbline calibrate`` on stored runs: certificates, refusals, and damaged certificate files."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.calibration.calibrating import CalibrationRequest, calibrate
from app.calibration.certificate_files import CertificateFiles, PublishedCollection
from app.calibration.home_key import KEY_FILE, open_home_key
from app.calibration.looks import record_look
from app.cli import main
from app.errors import AppError
from app.labelling.draws import DrawRequest, open_draw

Run = Callable[..., tuple[int, str, str]]


def certified(world: Any) -> tuple[str, Path]:
    """A run and the file of its certificate."""
    world.rate = 0.05
    run = world.store(400, 200)
    with world.pipeline() as pipeline:
        path = calibrate(pipeline, CalibrationRequest(run, thresholds=(0.5, 0.25))).results[0].path
    assert path is not None
    return run, path


def test_a_low_rate_is_certified_signed_and_listed(plumbline: Run, world: Any) -> None:
    world.rate = 0.03
    run = world.store(600, 300)
    code, out, _ = plumbline("calibrate", run, "--alpha", "0.10", "--json")
    found = json.loads(out)
    (result,) = found["results"]
    assert code == 0 and result["certified"] and found["thresholds_from"] == "unlabelled answers"
    certificate = result["certificate"]
    chosen = [t for t in result["thresholds"] if t["passed"]][-1]
    assert certificate["threshold"] == chosen["threshold"] and chosen["p_value"] <= 0.05
    assert certificate["labels"] == 300 > found["scored"] > 240 and certificate["deployment"]["policy"] == "abstain"
    assert certificate["answer_rate_lower"] < chosen["answer_rate"] < certificate["answer_rate_upper"]
    path = Path(result["file"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((path.parent / KEY_FILE).stat().st_mode) == 0o600
    code, out, _ = plumbline("calibrate", "--list", "--json")
    (listed,) = json.loads(out)["certificates"]
    assert code == 0 and listed["valid"] and listed["certificate"]["id"] == certificate["id"]


def test_the_table_names_every_threshold_and_stops_at_the_first_failure(plumbline: Run, world: Any) -> None:
    world.rate = 0.9
    code, out, _ = plumbline("calibrate", world.store(400, 200))
    lines = [line for line in out.splitlines() if line.endswith(("passed", "failed", "not tested"))]
    assert code == 3 and [line.split()[-1] for line in lines].count("failed") == 1
    assert lines[-1].endswith("not tested") and "cannot be certified" in out


def test_several_alphas_share_delta(plumbline: Run, world: Any) -> None:
    world.rate = 0.05
    code, out, _ = plumbline("calibrate", world.store(400, 200), "--alpha", "0.2", "--alpha", "0.01", "--json")
    found = json.loads(out)
    assert [r["level"] for r in found["results"]] == [0.025, 0.025]
    assert [r["certified"] for r in found["results"]] == [True, False]
    assert code == 3


def test_ten_labelled_questions_certify_nothing_and_the_number_needed_is_named(plumbline: Run, world: Any) -> None:
    code, out, _ = plumbline("calibrate", world.store(60, 10, "supported"), "--alpha", "0.05", "--json")
    (result,) = json.loads(out)["results"]
    assert code == 3 and result["certificate"] is None and result["file"] is None
    assert result["fewest_answered"] == 59 and result["labels_needed"] > 59


def test_labels_that_are_all_equal(plumbline: Run, world: Any, tmp_path: Path) -> None:
    good = world.store(300, 150, "supported")
    code, out, _ = plumbline("calibrate", good, "--json")
    assert code == 0 and json.loads(out)["results"][0]["certificate"]["hallucinated"] == 0
    world.home = tmp_path / "other"
    for label in ("hallucinated", "unscored"):
        world.rate += 0.01  # another run
        run = world.store(300, 150, label, seed=len(label))
        code = main(["calibrate", "--home", str(world.home), run])
        assert code == 3


def test_all_labels_abstained_leave_nothing_to_certify(plumbline: Run, world: Any) -> None:
    code, out, _ = plumbline("calibrate", world.store(300, 150, "abstained"), "--json")
    (result,) = json.loads(out)["results"]
    assert code == 3 and {t["answered"] for t in result["thresholds"]} == {0} and result["labels_needed"] is None


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--alpha", "0"), "--alpha is 0"),
        (("--alpha", "1"), "--alpha is 1"),
        (("--alpha", "nan"), "--alpha is nan"),
        (("--alpha", "0.1", "--alpha", "0.1"), "each value once"),
        (("--delta", "1"), "--delta is 1"),
        (("--delta", "0"), "--delta is 0"),
        (("--thresholds", "0.2,0.8"), "0.2, 0.8"),
        (("--thresholds", "high"), "'high'"),
        (("--thresholds", "1.5"), "1.5"),
        (("--start", "0"), "--start is 0"),
        (("--start", "0.5", "--thresholds", "0.5"), "--start"),
        (("--policies", "ripst"), "ripst"),
        (("--policies", "--arm", "rag"), "--arm"),
        (("--arm", "oracle"), "oracle"),
        (("--verifier", "nobody"), "nobody"),
        (("--list",), "one of them"),
    ],
)
def test_values_that_cannot_be_are_usage_errors(
    plumbline: Run, world: Any, options: tuple[str, ...], named: str
) -> None:
    code, out, err = plumbline("calibrate", world.store(40, 30), *options)
    assert code == 2 and named in err and not out
    assert not (world.home / "certificates").exists()


def test_a_run_without_labels_with_strata_or_with_references_is_refused(world: Any) -> None:
    bare = world.store(30, 0)
    world.seed = 9
    with world.pipeline() as pipeline, pytest.raises(AppError, match="no labels"):
        calibrate(pipeline, CalibrationRequest(bare))
    with world.pipeline() as pipeline:
        open_draw(pipeline, bare, DrawRequest(questions=10, stratify=True))
    with world.pipeline() as pipeline, pytest.raises(AppError, match="strata"):
        calibrate(pipeline, CalibrationRequest(bare))
    for verifier, references in (
        ("reference/1 f1>=0.8", ("a",)),
        ("routed/4 reference/1 | entailment/1 x", ("a",)),
        ("labels/1 abc", ()),
    ):
        world.verifier, world.references = verifier, references
        run = world.store(60, 40)
        with world.pipeline() as pipeline, pytest.raises(AppError, match="query does not provide"):
            calibrate(pipeline, CalibrationRequest(run))


def test_labels_of_another_collection_are_refused(world: Any) -> None:
    world.generation = "a" * 64
    run = world.store(60, 40)
    with world.pipeline() as pipeline, pytest.raises(AppError, match=r"another state.*aaaaaaaaaaaa.*gone"):
        calibrate(pipeline, CalibrationRequest(run))
    assert not (world.home / "certificates").exists()


def test_a_clock_set_back_is_noticed_before_and_after(world: Any) -> None:
    _, path = certified(world)
    past = datetime.now(UTC) - timedelta(days=30)
    check = CertificateFiles(world.home).check(path, clock=past)
    assert not check.valid and "clock" in check.problems[0]
    with world.pipeline() as pipeline, pytest.raises(AppError, match="clock was set back"):
        calibrate(pipeline, CalibrationRequest(path_run(path)), clock=past)


def path_run(path: Path) -> str:
    return str(json.loads(path.read_text())["certificate"]["run"])


@pytest.mark.drill
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("alpha", 0.01),
        ("threshold", 0.0),
        ("answered", 199),
        ("created_at", "2020-01-01T00:00:00+00:00"),
        ("id", "0" * 16),
    ],
)
def test_an_edited_field_is_named(plumbline: Run, world: Any, field: str, value: object) -> None:
    _, path = certified(world)
    content = json.loads(path.read_text())
    content["certificate"][field] = value
    path.write_text(json.dumps(content))
    code, out, _ = plumbline("calibrate", "--check", str(path), "--json")
    found = json.loads(out)
    assert code == 1 and not found["valid"]
    assert found["problems"][0] == f"edited after it was signed: {field}"


def test_an_edited_part_of_the_deployment_and_mixed_files_are_noticed(world: Any) -> None:
    _, path = certified(world)
    files = CertificateFiles(world.home)
    content = json.loads(path.read_text())
    content["certificate"]["deployment"]["model"] = "another"
    path.write_text(json.dumps(content))
    assert files.check(path).problems == ("edited after it was signed: deployment",)
    del content["certificate"]["deployment"]
    path.write_text(json.dumps(content))
    assert not files.check(path).valid
    for text in ("", "[]", "{}", '{"certificate": {}}', '{"certificate": NaN}', "\x00\xff", "{" * 100_000):
        path.write_text(text)
        try:
            assert not files.check(path).valid
        except AppError as error:
            assert path.name in str(error)


def test_a_certificate_of_another_home_is_noticed(plumbline: Run, world: Any, tmp_path: Path) -> None:
    _, path = certified(world)
    other = CertificateFiles(tmp_path / "elsewhere")
    copied = tmp_path / "copied.json"
    shutil.copy(path, copied)
    assert "another home" in other.check(copied).problems[0]
    open_home_key(other.folder)
    assert "another home" in other.check(copied).problems[0]
    assert CertificateFiles(world.home).check(copied).valid


def test_a_certificate_older_than_its_collection_and_a_changed_model_are_named(plumbline: Run, world: Any) -> None:
    _, path = certified(world)
    files = CertificateFiles(world.home)
    later = datetime.now(UTC) + timedelta(minutes=1)
    check = files.check(path, collection=PublishedCollection("b" * 64, later))
    assert "older than its collection" in check.problems[0]
    code, out, _ = plumbline("calibrate", "--check", str(path))  # the configured reader is not the run's "ggg..."
    assert code == 1 and "model was 'ggg" in out


def test_find_gives_the_certificate_that_answers_most_or_says_why_none(world: Any) -> None:
    _, path = certified(world)
    files = CertificateFiles(world.home)
    found = files.check(path).certificate
    assert found is not None
    assert files.find(0.1, found.deployment).id == found.id
    assert files.find(0.5, found.deployment).id == found.id
    with pytest.raises(AppError, match=r"0\.05.*alpha is 0\.1"):
        files.find(0.05, found.deployment)
    from dataclasses import replace

    with pytest.raises(AppError, match="verifier was"):
        files.find(0.1, replace(found.deployment, verifier="another"))


def test_every_other_set_of_labels_is_a_look_and_the_same_set_none(world: Any, tmp_path: Path) -> None:
    assert [record_look(tmp_path, "run", "rag", digest) for digest in ("a", "a", "b", "a", "c")] == [0, 0, 1, 0, 2]
    assert record_look(tmp_path, "run", "closed_book", "a") == 0
    (tmp_path / "looks").write_text("[]")
    with pytest.raises(AppError, match="damaged"):
        record_look(tmp_path, "run", "rag", "a")


def test_more_labels_are_another_look(plumbline: Run, world: Any) -> None:
    run = world.store(300, 100, "supported")
    assert json.loads(plumbline("calibrate", run, "--json")[1])["looks"] == 0
    with world.pipeline() as pipeline:
        world.label(pipeline, run, 120, {}, "supported")
    code, out, err = plumbline("calibrate", run)
    assert code == 0 and "120 labels" in out and "2 times delta" in err
    assert json.loads(plumbline("calibrate", run, "--thresholds", "0.5", "--json")[1])["looks"] == 2
    assert json.loads(plumbline("calibrate", run, "--alpha", "0.3", "--json")[1])["looks"] == 3
    assert json.loads(plumbline("calibrate", run, "--json")[1])["looks"] == 1


def test_a_damaged_key_is_not_replaced(world: Any) -> None:
    folder = world.home / "certificates"
    key = open_home_key(folder)
    assert open_home_key(folder).id == key.id
    (folder / KEY_FILE).write_text("abc")
    with pytest.raises(AppError, match="damaged"):
        open_home_key(folder)
    assert (folder / KEY_FILE).read_text() == "abc"
    (folder / KEY_FILE).unlink()
    (folder / KEY_FILE).symlink_to("/dev/null")
    with pytest.raises(AppError, match="not a regular file"):
        open_home_key(folder)
