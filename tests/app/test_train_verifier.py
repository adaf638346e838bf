"""``plumbline train verifier`` as a user meets it: output, messages, exit codes, resuming."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file

from model.shipped import shipped_reader, shipped_verifier
from model.support_files import load_support

Train = Callable[..., SimpleNamespace]


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
    arguments = ("--data", data, "--output", tmp_path / "v", "--steps", 2, "--tokens-at-once", 60, "--made", 0)
    first = train(*arguments, "--json")
    assert first.code == 0, first.err
    found = json.loads(first.out)
    assert set(found) == {"folder", "rows", "skipped", "training", "calibration", "development", "unseen"}
    assert (found["rows"], found["skipped"], found["unseen"]) == (8, 0, None)
    assert (found["training"]["steps"], found["training"]["resumed_at"]) == (2, 0)
    overall = found["development"]["table"]["overall"]
    assert overall["n"] == 4
    assert {"estimate", "lower", "upper"} <= set(overall["auroc"])
    assert "8 pairs to train on" in first.err
    again = train(*arguments)
    assert again.code == 0, again.err
    assert "development piers: AUROC" in again.out
    assert again.out.splitlines()[-1] == f"verifier {tmp_path / 'v'}"
    state = json.loads((tmp_path / "v" / "checkpoints" / "step-0000002" / "state.json").read_text())
    assert state["step"] == 2
    other = train(*arguments, "--seed", 1)
    assert other.code == 1
    assert "was trained with other" in other.err and "choose another --output" in other.err


def test_supported_pairs_are_drawn_to_the_balance_asked(train: Train, data: Path, tmp_path: Path) -> None:
    """Of 4 supported and 4 unsupported pairs half of the first, all of the second; of a source without these, none."""
    other = tmp_path / "others.jsonl"
    other.write_text(json.dumps({"evidence": "Lamps burn.", "claim": "Lamps burn.", "supported": True, "group": "a"}))
    arguments = ("--output", tmp_path / "v", "--steps", 1, "--tokens-at-once", 60, "--made", 0, "--balance", 0.5)
    ran = train("--data", data, "--data", other, *arguments, "--json")
    assert ran.code == 0, ran.err
    assert "9 pairs to train on" in ran.err
    assert json.loads(ran.out)["rows"] == 6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--steps", "0"], "--steps is 0"),
        (["--limit", "0"], "--limit is 0"),
        (["--rows", "-1"], "--rows is -1"),
        (["--source-cap", "0"], "--source-cap is 0"),
        (["--made", "-1"], "--made is -1"),
        (["--replies", "-1"], "--replies is -1"),
        (["--development", "-1"], "--development is -1"),
        (["--check", "-1"], "--check is -1"),
        (["--balance", "0"], "--balance is 0.0"),
        (["--balance", "nan"], "--balance is nan"),
        (["--windows", "0"], "--windows is 0"),
        (["--window", "8"], "window_tokens is 8"),
        (["--number-lack", "-1"], "--number-lack is -1.0"),
        (["--name-lack", "nan"], "--name-lack is nan"),
        (["--minutes", "0"], "--minutes is 0.0: it must be above 0 and at most 100,000"),
        (["--minutes", "nan"], "--minutes is nan"),
        (["--minutes", "1e306"], "--minutes is 1e+306"),
        (["--rows-to", "rows"], "--rows-to only makes rows: --output is for the run, with --rows-from"),
        (["--start", ""], "--start: it is empty: name a file or folder"),
        (["--minutes", "5", "--epochs", "2"], "--minutes and --epochs both say how long to train"),
        (["--minutes", "5", "--steps", "2"], "--minutes and --steps both say how long to train"),
        (["--mix", "v"], "--mix is 'v': it must be FOLDER=SHARE"),
        (["--mix", "v=2"], "--mix is 'v=2': it must be FOLDER=SHARE, the share in [0, 1]"),
        (["--mix", "=0.5"], "--mix is '=0.5'"),
        (["--mix", "v=0.6", "--mix", "w=0.5"], "come to 1.1: no more than 1 can be others' weights"),
        (["--not-taught", "piers"], "name a --teacher too"),
        (["--rows-from", "rows"], "--rows-from has rows that are made already: --data cannot change them"),
        (["--start-share", "2"], "--start-share is 2.0: it must be a share, in [0, 1]"),
        (["--start-share", "0.5"], "--start-share is a share of --start's weights"),
        (["--teacher-share", "nan"], "--teacher-share is nan: it must be a share, in [0, 1]"),
        (["--altered", "1.5"], "--altered is 1.5"),
        (["--altered", "nan"], "--altered is nan"),
        (["--altered", "0.5", "--together", "0"], "not with --together 0"),
        (["--strangers", "1.5"], "strangers in [0, 1]"),
        (["--learning-rate", "nan"], "learning rate is nan"),
        (["--epochs", "0"], "epochs is 0"),
        (["--tokens-at-once", "0"], "tokens_per_batch is 0"),
        (["--made", "some"], "invalid int value"),
    ],
)
def test_values_that_cannot_be_meant_are_usage_errors(
    train: Train, data: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    ran = train("--data", data, "--output", tmp_path / "v", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert ran.out == ""
    assert not (tmp_path / "v").exists()


def test_arguments_that_are_missing_are_usage_errors(train: Train, data: Path) -> None:
    ran = train("--data", data)
    assert ran.code == 2 and "--output FOLDER says where the verifier goes" in ran.err
    ran = train("--output", "x")
    assert ran.code == 2 and "give --data FILE, or --rows-from FOLDER" in ran.err


def test_data_that_cannot_be_used_is_an_error_by_name(train: Train, data: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(data.read_text() + '\n{"evidence": "x", "claim": "y", "supported": "yes"}\n')
    for arguments, said in (
        (["--data", broken], "broken.jsonl:13: supported is 'yes': it must be true or false"),
        (["--data", tmp_path / "none.jsonl"], "none.jsonl does not exist"),
        (["--data", data, "--hold-out", "ships"], "no source is called ships"),
        (["--data", data, "--device", "abacus"], "not a device"),
        (["--data", data, "--start", tmp_path], "verifier.json is missing"),
        (["--data", data, "--teacher", tmp_path], "verifier.json is missing"),
        (["--data", data, "--start", shipped_reader(), "--start-share", "0.5"], "is a reader: no share of it"),
    ):
        ran = train(*arguments, "--output", tmp_path / "v", "--made", 0)
        assert ran.code == 1, ran.err
        assert said in ran.err
        assert "Traceback" not in ran.err
        assert ran.out == ""


def test_a_folder_without_documents_is_named(train: Train, data: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    run = train("--data", data, "--output", tmp_path / "v", "--texts", tmp_path / "empty", "--made", 2)
    assert run.code == 1
    assert "no document to make anything from" in run.err and str(tmp_path / "empty") in run.err


def test_a_share_of_a_reader_is_refused_before_anything_is_read(train: Train, tmp_path: Path) -> None:
    missing = tmp_path / "missing.jsonl"
    run = train("--data", missing, "--output", tmp_path / "v", "--start", shipped_reader(), "--start-share", 0.5)
    assert run.code == 1
    assert "is a reader" in run.err and str(missing) not in run.err


def test_rows_are_made_on_one_machine_and_trained_on_by_another(train: Train, data: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    made = train("--data", data, "--made", 0, "--rows-to", rows, "--json")
    assert made.code == 0, made.err
    found = json.loads(made.out)
    assert found["files"] == ["held-0000.xz", "part-0000.xz", "rows.json"]
    assert (found["rows"], found["skipped"]) == (8, 0) and found["bytes"] < 20_000
    again = train("--data", tmp_path / "missing.jsonl", "--rows-to", rows)
    assert again.code == 1 and f"{rows} is there already" in again.err  # before anything is read
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text(data.read_text().splitlines()[-1])  # of a group that is held out
    none = train("--data", nothing, "--made", 0, "--rows-to", tmp_path / "none")
    assert none.code == 1 and "no rows to train on: nothing is written" in none.err
    assert not list(tmp_path.glob("*none*"))
    run = ("--rows-from", rows, "--steps", 1, "--tokens-at-once", 60)
    ran = train(*run, "--output", tmp_path / "v")
    assert ran.code == 0, ran.err
    assert f"8 rows of {rows}" in ran.err and ran.out.splitlines()[-1] == f"verifier {tmp_path / 'v'}"
    for wrong, said in (
        (["--made", 5], "--rows-from has rows that are made already: --made cannot change them, say it to --rows-to"),
        (["--skip-bad"], "--skip-bad cannot change them"),
        (["--rows-to", tmp_path / "w"], "--rows-to writes rows and --rows-from reads them"),
    ):
        ran = train(*run, "--output", tmp_path / "other", *wrong)
        assert ran.code == 2 and said in ran.err, ran.err
    ran = train("--rows-from", tmp_path, "--output", tmp_path / "other")
    assert ran.code == 1 and "wants a folder that --rows-to has written" in ran.err


def test_the_clock_ends_a_run_and_others_weights_are_mixed_in(train: Train, data: Path, tmp_path: Path) -> None:
    common = ("--data", data, "--tokens-at-once", 60, "--made", 0, "--check", 0)
    first = train(*common, "--output", tmp_path / "a", "--minutes", 0.02, "--json")
    assert first.code == 0, first.err
    training = json.loads(first.out)["training"]
    assert training["seconds"] >= 1.2 and training["steps"] >= 1
    mix = ("--mix", f"{tmp_path / 'a'}=0.25", "--mix", f"{shipped_verifier()}=0.5")
    second = train(*common, "--output", tmp_path / "b", "--steps", 1)
    assert second.code == 0, second.err
    run = load_file(tmp_path / "b" / "verifier.safetensors")
    assert train(*common, "--output", tmp_path / "b", "--steps", 1, *mix).code == 0
    a, mixed = (load_file(tmp_path / name / "verifier.safetensors") for name in "ab")
    shipped = load_file(shipped_verifier() / "verifier.safetensors")
    for name, tensor in mixed.items():
        expected = 0.25 * (a[name].float() + run[name].float()) + 0.5 * shipped[name].float()
        torch.testing.assert_close(tensor.float(), expected, rtol=2e-3, atol=1e-4)
    told = json.loads((tmp_path / "b" / "verifier.json").read_text())["recipe"]["mix"]
    assert told == [
        [load_support(tmp_path / "a").fingerprint, 0.25],
        [load_support(shipped_verifier()).fingerprint, 0.5],
    ]
    missing = train(*common, "--output", tmp_path / "c", "--mix", f"{tmp_path}=0.5")
    assert missing.code == 1 and "verifier.json is missing" in missing.err
