"""Weight files that changed since they were opened are refused by name until they are accepted."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from app.cli import main
from app.models.cache import ModelCache
from app.models.generators import open_generator
from app.models.known_weights import FOLDER, KnownWeights, known_weights
from model.checkpoints.files import sha256_of
from model.checkpoints.shipped import shipped_decoder
from model.errors import ModelError


def flip(file: Path, place: int = -1) -> None:
    """Flip one bit and keep size and modification time."""
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    file = tmp_path / "part.safetensors"
    file.write_bytes(bytes(range(64)))
    return file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_an_unchanged_file_has_its_hash_and_its_time_may_change(weights: Path, home: Path) -> None:
    known = KnownWeights(home)
    assert known.sha256_of(weights) == sha256_of(weights)
    os.utime(weights, ns=(1, 1))
    assert known.sha256_of(weights) == KnownWeights(home).sha256_of(weights) == sha256_of(weights)


@pytest.mark.parametrize("place", [0, 17, -1])
@pytest.mark.parametrize("modified_ns", [None, 5_000_000_000])
def test_a_flipped_bit_is_refused_by_name_whatever_the_time(
    weights: Path, home: Path, place: int, modified_ns: int | None
) -> None:
    KnownWeights(home).sha256_of(weights)
    flip(weights, place)
    if modified_ns is not None:
        os.utime(weights, ns=(modified_ns, modified_ns))
    for _ in range(2):  # it is not taken as known by being refused
        with pytest.raises(ModelError) as error:
            KnownWeights(home).sha256_of(weights)
        assert str(weights) in str(error.value)
        assert "--accept" in str(error.value)
        assert ("1970-01-01 00:00:05" in str(error.value)) == (modified_ns is not None)


def test_a_link_leads_to_the_same_record(weights: Path, home: Path, tmp_path: Path) -> None:
    KnownWeights(home).sha256_of(weights)
    link = tmp_path / "link.safetensors"
    link.symlink_to(weights)
    flip(weights)
    with pytest.raises(ModelError, match=r"link\.safetensors"):
        KnownWeights(home).sha256_of(link)


def test_a_file_of_another_size_is_another_file(weights: Path, home: Path) -> None:
    KnownWeights(home).sha256_of(weights)
    weights.write_bytes(b"other weights")
    assert KnownWeights(home).sha256_of(weights) == sha256_of(weights)
    flip(weights)
    with pytest.raises(ModelError):
        KnownWeights(home).sha256_of(weights)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"path": 1}', b'{"sha256": 7}', b"\xff\xfe"])
def test_a_damaged_record_is_written_anew(weights: Path, home: Path, content: bytes) -> None:
    KnownWeights(home).sha256_of(weights)
    (record,) = (home / FOLDER).iterdir()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    record.write_bytes(content)
    assert KnownWeights(home).sha256_of(weights) == sha256_of(weights)
    flip(weights)
    with pytest.raises(ModelError):
        KnownWeights(home).sha256_of(weights)


def test_names_that_are_no_utf_8_are_recorded_too(home: Path, tmp_path: Path) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.safetensors"))
    file.write_bytes(b"weights")
    KnownWeights(home).sha256_of(file)
    flip(file)
    with pytest.raises(ModelError):
        KnownWeights(home).sha256_of(file)


def test_a_home_that_cannot_be_written_does_not_stop_a_model(
    weights: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert KnownWeights(tmp_path / "file").sha256_of(weights) == sha256_of(weights)
    assert str(weights) in caplog.text


def test_without_a_home_and_for_the_shipped_decoder_nothing_is_recorded(home: Path) -> None:
    assert known_weights(None, Path("elsewhere")) is None
    assert known_weights(home, shipped_decoder()) is None


@pytest.mark.drill
def test_commands_refuse_a_changed_checkpoint_until_it_is_accepted(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(shipped_decoder(), folder)
    file = folder / "model.safetensors"
    before = open_generator(str(folder), home=home, models=ModelCache()).fingerprint
    flip(file)
    for choice in (str(folder), f"transformers:{folder}"):
        with pytest.raises(ModelError, match=r"model\.safetensors"):
            open_generator(choice, home=home, models=ModelCache())
    check = ["model", "check", str(folder), "--home", str(home)]
    assert main(check) == 1
    assert str(file) in capsys.readouterr().err
    assert main([*check, "--accept"]) == 0
    assert sha256_of(file) in capsys.readouterr().out
    assert open_generator(str(folder), home=home, models=ModelCache()).fingerprint != before
    KnownWeights(home).forget(folder)
    flip(file)
    assert open_generator(str(folder), home=home, models=ModelCache()).fingerprint == before
