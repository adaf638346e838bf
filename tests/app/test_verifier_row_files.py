"""Rows written in advance train the same network as rows that are built immediately. Damaged files are named."""

from __future__ import annotations

import hashlib
import json
import lzma
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from app.errors import AppError
from app.training.verifier.recipe import VerifierRecipe
from app.training.verifier.row_files import LIST, RowsFolder
from app.training.verifier.row_reading import read_rows
from app.training.verifier.rows import VerifierRows, make_rows
from app.training.verifier.training import train_verifier
from data.errors import DataError
from model.errors import ModelError
from model.verifier.encoder import SupportFeatures, warm_start_support
from model.verifier.files import SupportUse, load_support, save_support

# Groups of these numbers are held out by the SHA-256 of their names.
NUMBERS = (*range(12), 23, 54, 63)


def silent(text: str) -> None:
    pass


def write_rows(rows: VerifierRows, folder: Path) -> tuple[Path, ...]:
    with RowsFolder(folder) as written:
        return written.write(rows)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Pairs, and answers of two sentences."""
    folder = tmp_path_factory.mktemp("data")
    lines = []
    for n in NUMBERS:
        base = {
            "evidence": f"Pier {n} is {n + 30} metres long.\u2028It is old.",
            "source": "piers",
            "group": f"pier {n}",
        }
        lines.append({**base, "claim": f"Pier {n} is {n + 30} metres long.", "supported": True})
        lines.append({**base, "claim": f"Pier {n} was sold to Osk.", "supported": False})
        lines.append({**base, "claim": "It is red.", "supported": False, "source": "boats", "group": f"pier {n}"})
    pairs = folder / "piers.jsonl"
    pairs.write_text("\n".join(map(json.dumps, lines)) + "\n{\n", "utf-8")
    answers = folder / "lamps"
    answers.mkdir()
    sources, responses = [], []
    for n in range(40):
        sources.append({"source_id": str(n), "task_type": "qa", "source_info": f"Lamp {n} is green and small."})
        text = f"Lamp {n} is green. It is {'small' if n % 2 else 'large'} too."
        labels = [] if n % 2 else [{"start": text.index("large"), "end": text.index("large") + 5}]
        responses.append({"id": str(n), "source_id": str(n), "labels": labels, "split": "train", "response": text})
    for name, rows in (("source_info", sources), ("response", responses)):
        (answers / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return pairs, answers


def recipe(files: tuple[Path, ...], **changes: object) -> VerifierRecipe:
    base = VerifierRecipe(
        files, made=0, skip_bad=True, hold_out=("boats",), check=0, use=SupportUse(200, name_lack=0.5), num_layers=1
    )
    small = replace(base.settings, max_steps=2, tokens_per_batch=250)
    return replace(base, **{"settings": small, **changes})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made(files: tuple[Path, Path]) -> VerifierRows:
    return make_rows(recipe(files), separates_claims=True, notify=silent)


@pytest.fixture(scope="module")
def folder(made: VerifierRows, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows") / "deep" / "rows"
    written = write_rows(made, folder)
    assert sorted(path.name for path in written) == ["held-0000.xz", "part-0000.xz", LIST]
    assert list(folder.parent.iterdir()) == [folder]
    return folder


def test_rows_are_read_as_they_were_made(made: VerifierRows, folder: Path) -> None:
    messages: list[str] = []
    read = read_rows([folder], messages.append)
    assert (read.rows, read.development, read.unseen) == (made.rows, made.development, made.unseen)
    assert read.development and read.unseen and read.skipped == ()
    assert {row.source for row in read.rows} == {"piers", "lamps:qa"}
    assert (read.window_tokens, read.answer_tokens) == (200, 160)
    assert messages[0].startswith(f"{len(made.rows)} rows of {folder}, 0.0")
    (how,) = read.made["rows_from"]  # type: ignore[misc]
    assert how["bad_lines"] == len(made.skipped) == 1  # named where they were read
    assert (how["pairs"], how["hold_out"], how["window_tokens"]) == (["piers.jsonl", "lamps"], ["boats"], 200)  # type: ignore[index]
    assert str(folder.parent) not in (folder / LIST).read_text()


@pytest.mark.drill
def test_a_verifier_is_the_same_whether_its_rows_were_made_before(
    files: tuple[Path, Path], folder: Path, tmp_path: Path
) -> None:
    at_once = train_verifier(recipe(files), tmp_path / "at once", notify=silent)
    elsewhere = tmp_path / "carried"
    shutil.copytree(folder, elsewhere)
    later = recipe((), rows_from=(elsewhere,), use=SupportUse(name_lack=0.5))
    messages: list[str] = []
    found = train_verifier(later, tmp_path / "later", notify=messages.append)
    one, other = (load_file(tmp_path / name / "verifier.safetensors") for name in ("at once", "later"))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert load_support(tmp_path / "later").use == load_support(tmp_path / "at once").use
    assert found.rows == at_once.rows
    assert found.development is not None and at_once.development is not None
    assert found.development.table == at_once.development.table
    assert found.unseen is not None and at_once.unseen is not None
    assert found.unseen.table == at_once.unseen.table
    facts = json.loads((tmp_path / "later" / "verifier.json").read_text())["recipe"]
    assert facts["rows_from"][0]["pairs"] == ["piers.jsonl", "lamps"] and "pairs" not in facts
    assert str(tmp_path) not in json.dumps(facts)
    with pytest.raises(AppError, match="plain"):
        train_verifier(replace(later, features=SupportFeatures(worst_word=False)), tmp_path / "p", notify=silent)


def test_rows_of_several_folders_are_one_after_another(
    files: tuple[Path, Path], made: VerifierRows, folder: Path, tmp_path: Path
) -> None:
    alone = make_rows(recipe(files[:1]), separates_claims=True, notify=silent)
    write_rows(alone, tmp_path / "alone")
    both = read_rows([folder, tmp_path / "alone"], silent)
    assert both.rows == (*made.rows, *alone.rows)
    assert set(both.development) == set(made.development) and len(both.development) == len(made.development)
    assert both.answer_tokens == 160 and len(both.made["rows_from"]) == 2  # type: ignore[arg-type]
    narrow = make_rows(recipe(files[:1], use=SupportUse(100)), separates_claims=True, notify=silent)
    write_rows(narrow, tmp_path / "narrow")
    with pytest.raises(AppError, match=r"100 .* 200"):
        read_rows([folder, tmp_path / "narrow"], silent)
    answers = make_rows(recipe(files[1:], hold_out=()), separates_claims=True, notify=silent)
    write_rows(answers, tmp_path / "answers")  # it has nothing of what the other one holds out
    assert len(read_rows([folder, tmp_path / "answers"], silent).rows) == len(made.rows) + len(answers.rows)
    trained_on = make_rows(recipe(files[:1], hold_out=()), separates_claims=True, notify=silent)
    write_rows(trained_on, tmp_path / "all")
    with pytest.raises(AppError, match=r"rows.*'boats'.*all"):
        read_rows([tmp_path / "all", folder], silent)


@pytest.mark.drill
def test_teachers_have_no_say_in_sources_that_are_named(files: tuple[Path, Path], folder: Path, tmp_path: Path) -> None:
    run = recipe((), rows_from=(folder,), development=0)
    train_verifier(run, tmp_path / "teacher", notify=silent)
    distil_rows = replace(run, teachers=(tmp_path / "teacher",), not_taught=("lamps*",))
    messages: list[str] = []
    train_verifier(distil_rows, tmp_path / "taught", notify=messages.append)
    assert any(line.startswith("no distillation for ") and line.endswith(" rows of lamps:qa") for line in messages)
    assert json.loads((tmp_path / "taught" / "verifier.json").read_text())["recipe"]["not_taught"] == ["lamps*"]
    kept = load_file(tmp_path / "taught" / "teachers.safetensors")["logits"]
    assert len(kept) == sum(row.source == "piers" for row in read_rows([folder], silent).rows)
    with pytest.raises(DataError, match=r"ships.*lamps:qa, piers"):
        train_verifier(replace(distil_rows, not_taught=("ships",)), tmp_path / "other", notify=silent)


def test_a_network_of_other_features_is_not_mixed_in(folder: Path, tmp_path: Path) -> None:
    """Its weights have the same shapes, but half of its head was never trained."""
    save_support(
        warm_start_support(5, SupportFeatures(worst_word=False), num_layers=1), tmp_path / "plain", SupportUse(200), {}
    )
    mixed = recipe((), rows_from=(folder,), mix=((tmp_path / "plain", 0.5),))
    with pytest.raises(ModelError, match="plain"):
        train_verifier(mixed, tmp_path / "out", notify=silent)
    save_support(warm_start_support(5, num_layers=2), tmp_path / "deep", SupportUse(200), {})
    with pytest.raises(ModelError, match="deep"):
        train_verifier(replace(mixed, mix=((tmp_path / "deep", 0.5),)), tmp_path / "out", notify=silent)
    assert not (tmp_path / "out").exists()


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def listed(change: dict[str, object]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))

    return damage


def claimed(change: dict[str, object]) -> Callable[[Path], None]:
    """Return a function that changes a held-out claim and updates its file's hash."""

    def damage(path: Path) -> None:
        first, *others = lzma.decompress(path.read_bytes()).splitlines()
        content = lzma.compress(b"\n".join([json.dumps({**json.loads(first), **change}).encode(), *others]))
        path.write_bytes(content)
        about = json.loads((path.parent / LIST).read_text())
        about["files"][path.name] = hashlib.sha256(content).hexdigest()
        (path.parent / LIST).write_text(json.dumps(about))

    return damage


@pytest.mark.parametrize(
    ("file", "damage", "expected"),
    [
        ("part-0000.xz", flip, r"part-0000\.xz.*SHA-256"),
        ("held-0000.xz", flip, r"held-0000\.xz has SHA-256"),
        ("part-0000.xz", Path.unlink, r"part-0000\.xz.*No such file"),
        (LIST, Path.unlink, r"rows\.json.*--rows-to"),
        (LIST, lambda path: path.write_text("{"), r"rows\.json"),
        (LIST, lambda path: path.write_text("[]"), "format"),
        (LIST, listed({"format": 2}), "format"),
        (LIST, listed({"minilm": "0"}), "was built for another MiniLM"),
        (LIST, listed({"rows": 3}), r"rows, but rows\.json lists 3"),
        *(
            (LIST, listed(change), r"rows\.json")
            for change in (
                {"rows": "3"},
                {"answer_tokens": True},
                {"window_tokens": None},
                {"files": None},
                {"files": {"../part-0000.xz": "0"}},
                {"sources": "abc"},
                {"sources": [[1]]},
                {"made": []},
            )
        ),
        (LIST, listed({"sources": []}), r"part-0000\.xz"),
        *(
            ("held-0000.xz", claimed(change), r"held-0000\.xz")
            for change in (
                {"claim": 5},
                {"source": None},
                {"supported": "no"},
                {"unseen": 1},
                {"wrong": [[1]]},
                {"claim": " "},
                {"group": ["g"]},
            )
        ),
    ],
)
def test_damage_is_named(
    file: str, damage: Callable[[Path], None], expected: str, folder: Path, tmp_path: Path
) -> None:
    carried = tmp_path / "rows"
    shutil.copytree(folder, carried)
    damage(carried / file)
    with pytest.raises(AppError, match=expected):
        read_rows([carried], silent)


def test_nothing_is_written_over_and_nothing_by_half(made: VerifierRows, tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("rows", "link"):
        with pytest.raises(AppError, match=name):
            RowsFolder(tmp_path / name)
    with pytest.raises(AppError, match=r"Not a directory"):
        RowsFolder(tmp_path / "file" / "rows")
    with pytest.raises(KeyboardInterrupt), RowsFolder(tmp_path / "stopped"):
        raise KeyboardInterrupt
    late = RowsFolder(tmp_path / "late")
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "other").write_text("")
    with late, pytest.raises(AppError, match=r"late"):
        late.write(made)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "late", "link", "rows"]
