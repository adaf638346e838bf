"""The cache of opened models: one object per set of files, reopened on changes, bounded, thread-safe."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import pytest

from app.models.cache import ModelCache, ModelKey, model_key, process_models
from app.models.encoders import encoder_key, open_encoder
from app.models.generators import open_generator
from app.pipeline import Pipeline
from app.settings import Settings
from retrieval.encoding.sentence_transformer import default_encoder_folder
from retrieval.encoding.subprocess_encoder import SubprocessEncoder


class Model:
    """A stand-in for opened weights, compared by identity."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.mkdir()
    (path / "weights").write_bytes(b"x" * 100)
    return path


def test_the_same_files_are_opened_once(folder: Path) -> None:
    cache = ModelCache()
    first = cache.get(model_key("reader", folder), Model)
    assert cache.get(model_key("reader", folder), Model) is first
    assert model_key("reader", folder) in cache
    assert len(cache) == 1


def test_a_link_and_a_relative_path_lead_to_the_same_entry(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    assert model_key("reader", tmp_path / "link") == model_key("reader", Path("model")) == model_key("reader", folder)


@pytest.mark.parametrize(
    "other",
    [
        ("encoder", "cpu", ""),
        ("reader", "cuda:0", ""),
        ("reader", "cpu", "bf16"),
    ],
)
def test_kind_device_and_precision_tell_models_apart(folder: Path, other: tuple[str, str, str]) -> None:
    cache = ModelCache()
    kind, device, precision = other
    first = cache.get(model_key("reader", folder), Model)
    assert cache.get(model_key(kind, folder, device, precision), Model) is not first  # type: ignore[arg-type]
    assert len(cache) == 2


def rewritten(path: Path) -> None:
    path.write_bytes(b"y" * 101)


def replaced_by_as_many_bytes_of_the_same_time(path: Path) -> None:
    before = path.stat()
    other = path.with_name("other")
    other.write_bytes(b"y" * before.st_size)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


def added_in_a_subfolder(path: Path) -> None:
    (path.parent / "1_Pooling").mkdir()
    (path.parent / "1_Pooling" / "config.json").write_text("{}")


@pytest.mark.parametrize(
    "change", [rewritten, replaced_by_as_many_bytes_of_the_same_time, added_in_a_subfolder, os.unlink]
)
def test_changed_files_are_opened_anew_and_the_old_model_is_dropped(folder: Path, change: object) -> None:
    cache = ModelCache()
    old_key = model_key("reader", folder)
    first = cache.get(old_key, Model)
    change(folder / "weights")  # type: ignore[operator]
    assert cache.get(model_key("reader", folder), Model) is not first
    assert old_key not in cache
    assert len(cache) == 1


def keys(folder: Path, count: int, size: int = 10) -> list[ModelKey]:
    found = []
    for number in range(count):
        path = folder / str(number)
        path.mkdir()
        (path / "weights").write_bytes(b"x" * size)
        found.append(model_key("reader", path))
    return found


def test_the_least_recently_used_model_goes_first(tmp_path: Path) -> None:
    cache = ModelCache(max_models=2)
    a, b, c = keys(tmp_path, 3)
    cache.get(a, Model)
    cache.get(b, Model)
    cache.get(a, Model)
    cache.get(c, Model)
    assert [key in cache for key in (a, b, c)] == [True, False, True]


def test_bytes_are_bounded(tmp_path: Path) -> None:
    a, b, c = keys(tmp_path, 3, size=10)
    cache = ModelCache(max_bytes=20)
    for key in (a, b, c):
        cache.get(key, Model)
    assert [key in cache for key in (a, b, c)] == [False, True, True]


def test_a_model_beyond_the_bound_is_returned_and_not_kept(tmp_path: Path) -> None:
    (key,) = keys(tmp_path, 1, size=21)
    cache = ModelCache(max_bytes=20)
    assert isinstance(cache.get(key, Model), Model)
    assert len(cache) == 0


@pytest.mark.parametrize("bounds", [{"max_models": -1}, {"max_bytes": -1}])
def test_negative_bounds_are_refused(bounds: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="-1"):
        ModelCache(**bounds)


def test_release_and_close(tmp_path: Path) -> None:
    cache = ModelCache()
    a, b = keys(tmp_path, 2)
    first = cache.get(a, Model)
    cache.get(b, Model)
    assert cache.release(first)
    assert not cache.release(first)
    assert [key in cache for key in (a, b)] == [False, True]
    cache.close()
    assert len(cache) == 0
    assert cache.get(a, Model) is not first


def test_an_error_is_raised_and_nothing_is_kept(folder: Path) -> None:
    cache = ModelCache()
    key = model_key("reader", folder)

    def fails() -> Model:
        raise LookupError("damaged")

    with pytest.raises(LookupError, match="damaged"):
        cache.get(key, fails)
    assert isinstance(cache.get(key, Model), Model)


def test_threads_that_ask_at_once_wait_for_one_load(folder: Path) -> None:
    cache, together, loads = ModelCache(), Barrier(8), []
    key = model_key("reader", folder)

    def load() -> Model:
        loads.append(1)
        return Model()

    def ask(_: int) -> Model:
        together.wait(timeout=60)
        return cache.get(key, load)

    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(ask, range(8)))
    assert (len(found), len(loads)) == (1, 1)


def test_who_waits_for_an_interrupted_load_loads_itself(folder: Path) -> None:
    cache = ModelCache()
    key = model_key("reader", folder)
    loading, fail = Event(), Event()

    def interrupted() -> Model:
        loading.set()
        assert fail.wait(timeout=60)
        raise KeyboardInterrupt

    def waits() -> Model:
        assert loading.wait(timeout=60)
        return cache.get(key, Model)

    with ThreadPoolExecutor(2) as threads:
        broken, waiting = threads.submit(cache.get, key, interrupted), threads.submit(waits)
        assert loading.wait(timeout=60)
        fail.set()
        assert isinstance(broken.exception(timeout=60), KeyboardInterrupt)
        assert isinstance(waiting.result(timeout=60), Model)


def test_what_is_closed_while_it_loads_is_not_kept(folder: Path) -> None:
    cache = ModelCache()
    key = model_key("reader", folder)

    def load() -> Model:
        cache.close()
        return Model()

    assert isinstance(cache.get(key, load), Model)
    assert key not in cache


def test_pipelines_share_encoder_and_reader(reader_folder: Path, tmp_path: Path) -> None:
    models = ModelCache()
    settings = Settings(home=tmp_path, database="", encoder="", model=str(reader_folder), device="cpu")
    with Pipeline(settings, models) as one, Pipeline(settings, models) as two:
        assert one.generator is two.generator
        assert one.encoder is two.encoder
        assert two.subprocess_encoder is one.encoder  # open here already: no process is started
    assert len(models) == 2


def test_an_encoder_that_is_not_open_gets_a_process_of_its_own(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, database="", encoder="", model="", device="cpu")
    with Pipeline(settings, ModelCache()) as pipeline:
        assert isinstance(pipeline.subprocess_encoder, SubprocessEncoder)  # started by its first use


def test_a_cache_of_ones_own_is_not_the_processs(reader_folder: Path) -> None:
    models = ModelCache()
    assert open_generator(str(reader_folder), models=models) is not open_generator(str(reader_folder))
    assert open_generator(str(reader_folder)) is open_generator(str(reader_folder))
    assert open_encoder("", "cpu", "auto") is open_encoder("", "cpu", "auto")
    assert encoder_key("", "cpu", "auto") in process_models()
    # The weights of "" are compared with the published ones, those of a folder are not.
    assert encoder_key("", "cpu", "auto") != encoder_key(str(default_encoder_folder()), "cpu", "auto")
    assert encoder_key("sentence-transformers/no-folder-here", "cpu", "fp32") is None


def test_a_model_of_one_file_is_known_by_its_parts(tmp_path: Path) -> None:
    for part in ("a-00001-of-00002.gguf", "a-00002-of-00002.gguf"):
        (tmp_path / part).write_bytes(b"one")
    first = tmp_path / "a-00001-of-00002.gguf"
    key = model_key("decoder", first)
    assert key == model_key("decoder", first)
    assert len(key.files) == 2
    (tmp_path / "b.gguf").write_bytes(b"another model")
    assert key == model_key("decoder", first)
    (tmp_path / "a-00002-of-00002.gguf").write_bytes(b"other")
    assert key != model_key("decoder", first)
