"""``plumbline train verifier``: output, messages, exit codes, resuming."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file

from app.commands import verifier_training_options
from app.errors import UsageError
from model.checkpoints.shipped import shipped_reader, shipped_verifier
from model.verifier.encoder import warm_start_support
from model.verifier.files import SupportUse, load_support, save_support

Train = Callable[..., SimpleNamespace]
SMALL = ("--layers", 1, "--tokens-at-once", 60, "--synthetic", 0)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [
        {"evidence": f"Pier {n} is long.", "claim": claim, "supported": good, "group": f"pier {n}"}
        for n in (0, 1, 2, 3, 23, 54)  # the last two are held out by their names
        for claim, good in ((f"Pier {n} is long.", True), ("Ships sank.", False))
    ]
    path = tmp_path_factory.mktemp("pairs") / "piers.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


@pytest.fixture
def train(typed: Train) -> Train:
    return partial(typed, "train", "verifier")


def test_it_trains_and_then_has_nothing_left_to_train(train: Train, data: Path, tmp_path: Path) -> None:
    arguments = (
        "--data",
        data,
        "--output",
        tmp_path / "v",
        "--steps",
        2,
        "--tokens-at-once",
        60,
        "--synthetic",
        0,
        "--layers",
        1,
    )
    first = train(*arguments, "--json")
    assert first.code == 0, first.err
    found = json.loads(first.out)
    assert set(found) == {"folder", "rows", "skipped", "training", "calibration", "development", "unseen"}
    assert (found["rows"], found["skipped"], found["unseen"]) == (8, 0, None)
    assert (found["training"]["steps"], found["training"]["resumed_at"]) == (2, 0)
    overall = found["development"]["table"]["overall"]
    assert overall["n"] == 4
    assert {"estimate", "lower", "upper"} <= set(overall["auroc"])
    assert "8 pairs" in first.err
    again = train(*arguments)
    assert again.code == 0, again.err
    assert "development piers" in again.out
    assert again.out.splitlines()[-1] == f"verifier {tmp_path / 'v'}"
    state = json.loads((tmp_path / "v" / "checkpoints" / "step-0000002" / "state.json").read_text())
    assert state["step"] == 2
    other = train(*arguments, "--seed", 1)
    assert other.code == 1
    assert "step-0000002" in other.err and "settings" in other.err and "--output" in other.err


def test_supported_pairs_are_drawn_to_the_balance_asked(train: Train, data: Path, tmp_path: Path) -> None:
    """Of 4 supported and 4 unsupported pairs, half of the first and all of the second are drawn; of a source without
    unsupported pairs, none.
    """
    other = tmp_path / "others.jsonl"
    other.write_text(json.dumps({"evidence": "Lamps burn.", "claim": "Lamps burn.", "supported": True, "group": "a"}))
    arguments = (
        "--output",
        tmp_path / "v",
        "--steps",
        1,
        "--tokens-at-once",
        60,
        "--synthetic",
        0,
        "--balance",
        0.5,
        "--layers",
        1,
    )
    ran = train("--data", data, "--data", other, *arguments, "--json")
    assert ran.code == 0, ran.err
    assert "9 pairs" in ran.err
    assert json.loads(ran.out)["rows"] == 6


PARSER = argparse.ArgumentParser()
verifier_training_options.add(PARSER)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--steps", "0"], ("--steps", "0")),
        (["--limit", "0"], ("--limit", "0")),
        (["--rows", "-1"], ("--rows", "-1")),
        (["--source-cap", "0"], ("--source-cap", "0")),
        (["--synthetic", "-1"], ("--synthetic", "-1")),
        (["--replies", "-1"], ("--replies", "-1")),
        (["--development", "-1"], ("--development", "-1")),
        (["--check", "-1"], ("--check", "-1")),
        (["--balance", "0"], ("--balance", "0.0")),
        (["--balance", "nan"], ("--balance", "nan")),
        (["--windows", "0"], ("--windows", "0")),
        (["--window", "8"], ("window_tokens", "8")),
        (["--number-penalty", "-1"], ("--number-penalty", "-1.0")),
        (["--name-penalty", "nan"], ("--name-penalty", "nan")),
        (["--layers", "0"], ("--layers", "0", "6")),
        (["--layers", "7"], ("--layers", "7", "6")),
        (["--layers", "2", "--start", "v"], ("--layers", "--start")),
        (["--minutes", "0"], ("--minutes", "0.0")),
        (["--minutes", "nan"], ("--minutes", "nan")),
        (["--minutes", "1e306"], ("--minutes", "1e+306")),
        (["--rows-to", "rows"], ("--rows-to", "--output", "--rows-from")),
        (["--minutes", "5", "--epochs", "2"], ("--minutes", "--epochs")),
        (["--minutes", "5", "--steps", "2"], ("--minutes", "--steps")),
        (["--mix", "v"], ("--mix", "'v'", "FOLDER=SHARE")),
        (["--mix", "v=2"], ("--mix", "'v=2'", "FOLDER=SHARE")),
        (["--mix", "=0.5"], ("--mix", "'=0.5'")),
        (["--mix", "v=0.6", "--mix", "w=0.5"], ("--mix", "1.1")),
        (["--no-distill", "piers"], ("--no-distill", "--teacher")),
        (["--rows-from", "rows"], ("--rows-from", "--data")),
        (["--start-share", "2"], ("--start-share", "2.0")),
        (["--start-share", "0.5"], ("--start-share", "--start")),
        (["--teacher-share", "nan"], ("--teacher-share", "nan")),
        (["--altered", "1.5"], ("--altered", "1.5")),
        (["--altered", "nan"], ("--altered", "nan")),
        (["--altered", "0.5", "--joint-tokens", "0"], ("--altered", "--joint-tokens 0")),
        (["--strangers", "1.5"], ("strangers", "[0, 1]")),
        (["--learning-rate", "nan"], ("learning rate", "nan")),
        (["--epochs", "0"], ("epochs", "0")),
        (["--tokens-at-once", "0"], ("tokens_per_batch", "0")),
    ],
)
def test_bad_values_are_usage_errors_that_name_them(arguments: list[str], expected: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        verifier_training_options.verifier_recipe(PARSER.parse_args(["--data", "d", "--output", "v", *arguments]))
    assert all(part in str(caught.value) for part in expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--steps", "0"], ("--steps", "0")),
        (["--start", ""], ("--start",)),
        (["--synthetic", "some"], ("--synthetic", "some")),
    ],
)
def test_a_usage_error_ends_the_command_and_writes_nothing(
    train: Train, data: Path, tmp_path: Path, arguments: list[str], expected: tuple[str, ...]
) -> None:
    ran = train("--data", data, "--output", tmp_path / "v", *arguments)
    assert ran.code == 2
    assert all(part in ran.err for part in expected)
    assert ran.out == ""
    assert not (tmp_path / "v").exists()


def test_arguments_that_are_missing_are_usage_errors(train: Train, data: Path) -> None:
    ran = train("--data", data)
    assert ran.code == 2 and "--output" in ran.err
    ran = train("--output", "x")
    assert ran.code == 2 and "--data" in ran.err and "--rows-from" in ran.err


def test_data_that_cannot_be_used_is_an_error_by_name(train: Train, data: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(data.read_text() + '\n{"evidence": "x", "claim": "y", "supported": "yes"}\n')
    for arguments, expected in (
        (["--data", broken], ("broken.jsonl:13", "supported", "'yes'")),
        (["--data", tmp_path / "none.jsonl"], ("none.jsonl",)),
        (["--data", data, "--hold-out", "ships"], ("ships", "piers")),
        (["--data", data, "--device", "abacus"], ("abacus",)),
        (["--data", data, "--start", tmp_path], ("verifier.json",)),
        (["--data", data, "--teacher", tmp_path], ("verifier.json",)),
        (["--data", data, "--start", shipped_reader(), "--start-share", "0.5"], (str(shipped_reader()), "reader")),
    ):
        ran = train(*arguments, "--output", tmp_path / "v", "--synthetic", 0)
        assert ran.code == 1, ran.err
        assert all(part in ran.err for part in expected)
        assert "Traceback" not in ran.err
        assert ran.out == ""


def test_a_folder_without_documents_is_named(train: Train, data: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    run = train("--data", data, "--output", tmp_path / "v", "--texts", tmp_path / "empty", "--synthetic", 2)
    assert run.code == 1
    assert str(tmp_path / "empty") in run.err


def test_a_share_of_a_reader_is_refused_before_anything_is_read(train: Train, tmp_path: Path) -> None:
    missing = tmp_path / "missing.jsonl"
    run = train("--data", missing, "--output", tmp_path / "v", "--start", shipped_reader(), "--start-share", 0.5)
    assert run.code == 1
    assert str(shipped_reader()) in run.err and str(missing) not in run.err


def test_rows_are_made_on_one_machine_and_trained_on_by_another(train: Train, data: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    made = train("--data", data, "--synthetic", 0, "--rows-to", rows, "--json")
    assert made.code == 0, made.err
    found = json.loads(made.out)
    assert found["files"] == ["held-0000.xz", "part-0000.xz", "rows.json"]
    assert (found["rows"], found["skipped"]) == (8, 0) and found["bytes"] < 20_000
    again = train("--data", tmp_path / "missing.jsonl", "--rows-to", rows)
    assert again.code == 1 and str(rows) in again.err and "missing.jsonl" not in again.err  # before anything is read
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text(data.read_text().splitlines()[-1])  # of a group that is held out
    none = train("--data", nothing, "--synthetic", 0, "--rows-to", tmp_path / "none")
    assert none.code == 1 and "no rows" in none.err
    assert not list(tmp_path.glob("*none*"))
    run = ("--rows-from", rows, "--steps", 1, "--tokens-at-once", 60, "--layers", 1)
    ran = train(*run, "--output", tmp_path / "v")
    assert ran.code == 0, ran.err
    assert f"8 rows of {rows}" in ran.err and ran.out.splitlines()[-1] == f"verifier {tmp_path / 'v'}"
    for wrong, expected in (
        (["--synthetic", 5], ("--synthetic", "--rows-from")),
        (["--skip-bad"], ("--skip-bad", "--rows-from")),
        (["--rows-to", tmp_path / "w"], ("--rows-to", "--rows-from")),
    ):
        ran = train(*run, "--output", tmp_path / "other", *wrong)
        assert ran.code == 2 and all(part in ran.err for part in expected), ran.err
    ran = train("--rows-from", tmp_path, "--output", tmp_path / "other")
    assert ran.code == 1 and str(tmp_path) in ran.err and "--rows-to" in ran.err


@pytest.mark.drill
def test_the_clock_ends_a_run_and_others_weights_are_mixed_in(train: Train, data: Path, tmp_path: Path) -> None:
    common = ("--data", data, "--tokens-at-once", 60, "--synthetic", 0, "--check", 0, "--layers", 1)
    first = train(*common, "--output", tmp_path / "a", "--minutes", 0.004, "--json")
    assert first.code == 0, first.err
    training = json.loads(first.out)["training"]
    assert training["seconds"] >= 0.24 and training["steps"] >= 1
    save_support(warm_start_support(9, num_layers=1), tmp_path / "other", SupportUse(300), {})
    mix = ("--mix", f"{tmp_path / 'a'}=0.25", "--mix", f"{tmp_path / 'other'}=0.5")
    second = train(*common, "--output", tmp_path / "b", "--steps", 1)
    assert second.code == 0, second.err
    run = load_file(tmp_path / "b" / "verifier.safetensors")
    assert train(*common, "--output", tmp_path / "b", "--steps", 1, *mix).code == 0
    a, mixed, other = (load_file(tmp_path / name / "verifier.safetensors") for name in ("a", "b", "other"))
    for name, tensor in mixed.items():
        expected = 0.25 * (a[name].float() + run[name].float()) + 0.5 * other[name].float()
        torch.testing.assert_close(tensor.float(), expected, rtol=2e-3, atol=1e-4)
    told = json.loads((tmp_path / "b" / "verifier.json").read_text())["recipe"]["mix"]
    assert told == [[load_support(tmp_path / name).fingerprint, share] for name, share in (("a", 0.25), ("other", 0.5))]
    missing = train(*common, "--output", tmp_path / "c", "--mix", f"{tmp_path}=0.5")
    assert missing.code == 1 and "verifier.json" in missing.err


@pytest.mark.drill
def test_a_run_of_full_size_is_mixed_with_the_shipped_one(train: Train, data: Path, tmp_path: Path) -> None:
    common = ("--data", data, "--tokens-at-once", 60, "--synthetic", 0, "--steps", 1, "--output", tmp_path / "b")
    assert train(*common).code == 0
    run = load_file(tmp_path / "b" / "verifier.safetensors")
    assert train(*common, "--mix", f"{shipped_verifier()}=0.5").code == 0
    mixed, shipped = (load_file(folder / "verifier.safetensors") for folder in (tmp_path / "b", shipped_verifier()))
    assert load_support(tmp_path / "b").model.config.num_layers == 6
    for name, tensor in mixed.items():
        expected = 0.5 * (run[name].float() + shipped[name].float())
        torch.testing.assert_close(tensor.float(), expected, rtol=2e-3, atol=1e-4)
