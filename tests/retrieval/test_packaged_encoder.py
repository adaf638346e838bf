from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from retrieval.encoding.from_library import open_from_library
from retrieval.encoding.opened_encoder import OpenedEncoder
from retrieval.encoding.packaged import open_packaged
from retrieval.encoding.sentence_transformer import SentenceTransformerEncoder, default_encoder_folder
from tests.retrieval.odd_texts import ODD


@pytest.fixture(scope="module")
def library() -> OpenedEncoder:
    return open_from_library(str(default_encoder_folder()), "cpu", 32, local=True, bf16=True)


@pytest.fixture(scope="module")
def packaged() -> OpenedEncoder:
    found = open_packaged(default_encoder_folder(), bf16=True)
    assert found is not None
    return found


@pytest.mark.drill
def test_it_is_what_the_library_makes_of_the_package(library: OpenedEncoder, packaged: OpenedEncoder) -> None:
    known = [(o.fingerprint, o.dimension, o.max_tokens, o.counter.definition) for o in (library, packaged)]
    assert known[0] == known[1]
    assert packaged.counter(ODD) == library.counter(ODD)
    for bf16, tolerance in ((False, 1e-6), (True, 1e-2)):
        expected, found = library.embed(ODD, "passage", bf16), packaged.embed(ODD, "passage", bf16)
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(packaged.embed(ODD, "query"), packaged.embed(ODD, "passage"))


def _other_length(folder: Path) -> None:
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 128, "do_lower_case": false}')


def _other_weights(folder: Path) -> None:
    with (folder / "model.safetensors").open("r+b") as file:
        file.seek(-4, 2)
        file.write(b"\x00\x00\x00\x01")


def _adapter(folder: Path) -> None:
    (folder / "adapter_config.json").write_text("{}")


def _no_pooling(folder: Path) -> None:
    shutil.rmtree(folder / "1_Pooling")


@pytest.mark.parametrize("change", [_other_length, _other_weights, _adapter, _no_pooling])
def test_whatever_differs_from_the_package_is_the_librarys(tmp_path: Path, change: Callable[[Path], None]) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(default_encoder_folder(), folder)
    (folder / "README.md").write_text("Read by people only.")
    assert open_packaged(folder, bf16=False) is not None
    change(folder)
    assert open_packaged(folder, bf16=False) is None


def test_a_file_that_cannot_be_read_is_the_librarys_to_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: Path) -> str:
        raise PermissionError("not yours")

    monkeypatch.setattr("retrieval.encoding.packaged.sha256_of", failing)
    assert open_packaged(default_encoder_folder(), bf16=False) is None


def test_a_changed_length_is_heeded_by_what_opens_it_then(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(default_encoder_folder(), folder)
    _other_length(folder)
    assert SentenceTransformerEncoder(folder).max_tokens == 128


@pytest.mark.drill
def test_the_default_encoder_imports_no_library() -> None:
    script = (
        "import sys\n"
        "from retrieval.encoding.sentence_transformer import load_default_encoder\n"
        "assert load_default_encoder().encode_queries(['a text']).shape == (1, 384)\n"
        "slow = ('sentence_transformers', 'transformers', 'sklearn', 'torch._dynamo')\n"
        "print([name for name in slow if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
