"""The checks of `plumbline doctor`. Each check yields findings. An exception in a check becomes a finding."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from app.doctor.findings import Finding, guarded, one_line
from app.doctor.server_checks import server_findings
from app.errors import USER_ERRORS
from app.models.generators import is_server
from app.pipeline import Pipeline

PACKAGES = (
    ("torch", "torch"),
    ("transformers", "transformers"),
    ("sentence-transformers", "sentence_transformers"),
    ("faiss-cpu", "faiss"),
    ("bm25s", "bm25s"),
    ("sqlalchemy", "sqlalchemy"),
)
"""Distribution name and module name of each package that is needed to answer questions."""

_LEAST_FREE_BYTES = 1 << 30
_BUSY_TIMEOUT_S = 2.0


def diagnose(pipeline: Pipeline) -> Iterator[Finding]:
    """Yield all findings as soon as they are available. Slow checks (models) come after fast ones, collections last."""
    reinstall = "install Plumbline's requirements again, in a separate environment"
    yield from guarded("versions", reinstall, _versions)
    yield from guarded("device", "choose one with --device or PLUMBLINE_DEVICE", partial(_device, pipeline))
    yield from guarded("memory", "this check is not needed to answer questions", _memory)
    yield from guarded("home", "choose another with --home or PLUMBLINE_HOME", partial(_home, pipeline))
    yield from guarded("database", "choose another with PLUMBLINE_DATABASE", partial(_database, pipeline))
    yield from guarded("minilm", reinstall, _minilm)
    yield from guarded("encoder", "name another with --encoder or PLUMBLINE_ENCODER", partial(_encoder, pipeline))
    restore = "restore it, train one (plumbline train reader), or name another with --model"
    if is_server(pipeline.settings.model):
        restore = "start the server, check its address and the model's name, or name another with --model"
    yield from guarded("model", restore, partial(_model, pipeline))
    yield from server_findings(pipeline)
    yield from guarded("collections", "see the check database", partial(_collections, pipeline))


def _versions() -> Iterator[Finding]:
    yield Finding("python", "ok", f"{platform.python_version()} on {platform.platform()}")
    try:
        yield Finding("plumbline", "ok", version("plumbline-rag"))
    except PackageNotFoundError:
        yield Finding("plumbline", "fail", "not installed", "install it into this environment: pip install -e .")
    for distribution, module in PACKAGES:
        yield _package(distribution, module)
    # Never a warning: SQLite before 3.51.3 can corrupt a WAL database with two writers, but the store uses one.
    yield Finding("sqlite", "ok", sqlite3.sqlite_version)


def _package(distribution: str, module: str) -> Finding:
    advice = "install Plumbline's requirements again, in a separate environment"
    try:
        installed = version(distribution)
    except PackageNotFoundError:
        return Finding(distribution, "fail", "not installed", advice)
    try:
        importlib.import_module(module)
    except Exception as error:  # a broken binary can raise anything
        return Finding(
            distribution,
            "fail",
            f"{installed}, but it cannot be imported: {type(error).__name__}: {one_line(error)}",
            advice,
        )
    return Finding(distribution, "ok", installed)


def _device(pipeline: Pipeline) -> Iterator[Finding]:
    import torch

    from model.hardware.device import bf16_instructions

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    instructions = ", ".join(bf16_instructions())
    precision = f"bf16 ({instructions})" if instructions else "fp32 (no bf16 instructions)"
    yield Finding("cpu", "ok", f"{_cpu_name()}, {cores} cores; new collections are embedded in {precision}")
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    yield Finding("device", "ok", f"{pipeline.device} (CUDA devices: {', '.join(gpus) or 'none'})")


def _cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", errors="replace")
    except OSError:
        text = ""
    names = [row.partition(":")[2].strip() for row in text.splitlines() if row.startswith("model name")]
    return next(iter(names), platform.machine())


def _memory() -> Iterator[Finding]:
    try:
        rows = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        yield Finding("memory", "ok", "unknown on this system")
        return
    kib = {row.partition(":")[0]: int(row.split()[1]) for row in rows if len(row.split()) > 1}
    total, free = kib["MemTotal"] << 10, kib["MemAvailable"] << 10
    memory = f"{_gib(free)} of {_gib(total)} available"
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text("ascii").strip()
        if limit.isdecimal() and int(limit) < total:
            memory += f", limited to {_gib(int(limit))} for this container"
            free = min(free, int(limit))
    except OSError:
        pass
    if free < _LEAST_FREE_BYTES:
        yield Finding("memory", "warn", memory, "loading the models takes about 1 GiB: stop other programs first")
    else:
        yield Finding("memory", "ok", memory)


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"


def _home(pipeline: Pipeline) -> Iterator[Finding]:
    home, existing = pipeline.home, _existing(pipeline.home)
    problem = _not_writable(existing)
    if problem is not None:
        advice = "make it a folder you can write to, or choose another with --home or PLUMBLINE_HOME"
        yield Finding("home", "fail", f"{home}: {problem}", advice)
        return
    free = shutil.disk_usage(existing).free
    description = f"{home}, {_gib(free)} free" + ("" if existing == home else " (created on first use)")
    if free < _LEAST_FREE_BYTES:
        advice = "free some space: indexing needs space for two generations of the index"
        yield Finding("home", "warn", description, advice)
    else:
        yield Finding("home", "ok", description)


def _existing(path: Path) -> Path:
    """Return the path, or its closest existing ancestor."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _not_writable(folder: Path) -> str | None:
    """Return why the folder is not writable, or None if it is.

    It tries to write, because permission bits show neither read-only disks nor quotas nor the rights of root.
    """
    if not folder.is_dir():
        return f"{folder} is not a folder"
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"plumbline")
            file.flush()
    except OSError as error:
        return f"{folder} cannot be written to ({error.strerror})"
    return None


def _database_file(pipeline: Pipeline) -> Path | None:
    """Return the path of the SQLite file, or None for a database server."""
    from sqlalchemy import make_url

    url = make_url(pipeline.settings.database_url)
    return Path(url.database or "").absolute() if url.get_backend_name() == "sqlite" else None


def _database(pipeline: Pipeline) -> Iterator[Finding]:
    from data.errors import StoreBusyError
    from data.schema import SCHEMA_VERSION
    from data.store import Store

    file = _database_file(pipeline)
    if file is not None and not file.exists():
        problem = _not_writable(_existing(file.parent))
        if problem is not None:
            yield Finding("database", "fail", f"{file}: {problem}", "choose another path with PLUMBLINE_DATABASE")
        else:
            yield Finding("database", "ok", f"{file} (created on first use)")
        return
    with Store.open(pipeline.settings.database_url, busy_timeout_s=_BUSY_TIMEOUT_S) as store:
        yield Finding("schema", "ok", f"version {SCHEMA_VERSION}")
        try:
            with store.write():
                pass
        except StoreBusyError:
            yield Finding("database", "warn", f"{store.name} is locked by another writing process", "check again later")
        else:
            yield Finding("database", "ok", f"{store.name}, writable")


def _minilm() -> Iterator[Finding]:
    from model.checkpoints.minilm import MINILM_SHA256, minilm_folder

    yield Finding("minilm", "ok", f"SHA-256 {MINILM_SHA256[:12]} as published, in {minilm_folder()}")


def _encoder(pipeline: Pipeline) -> Iterator[Finding]:
    encoder = pipeline.encoder
    name = pipeline.settings.encoder or "all-MiniLM-L6-v2 (included)"
    yield Finding("encoder", "ok", f"{name}: {encoder.dimension} dimensions, fingerprint {encoder.fingerprint[:12]}")


def _model(pipeline: Pipeline) -> Iterator[Finding]:
    model = pipeline.generator
    description = f"{model.name}: {model.context_length} tokens of context, fingerprint {model.fingerprint[:12]}"
    yield Finding("model", "ok", description)


def _collections(pipeline: Pipeline) -> Iterator[Finding]:
    from sqlalchemy import select

    from data.schema import collections

    none_yet = Finding("collections", "ok", "none yet: create one with plumbline index PATH --collection NAME")
    file = _database_file(pipeline)
    if file is not None and not file.exists():
        yield none_yet
        return
    with pipeline.store.read() as connection:
        names = connection.execute(select(collections.c.name).order_by(collections.c.name)).scalars().all()
    if not names:
        yield none_yet
    for name in names:
        advice = "run plumbline index again with the same sources"
        yield from guarded(f"collection {name}", advice, partial(_collection, pipeline, name))


def _collection(pipeline: Pipeline, name: str) -> Iterator[Finding]:
    from retrieval.collections import check_collection
    from retrieval.encoding.encoder import serves

    check, again = f"collection {name}", "run plumbline index again with the same sources"
    health = check_collection(pipeline.store, pipeline.home, name, pipeline.engines)
    info = health.info
    if info.generation_hash is None:
        yield Finding(check, "warn", "never indexed completely, so it cannot answer", again)
        return
    contents = f"{info.documents} documents, {info.chunks} chunks, generation {info.generation_hash[:12]}"
    if health.problems:
        yield Finding(check, "fail", "; ".join(health.problems), again)
        return
    try:
        fits = info.encoder is not None and serves(pipeline.encoder, info.encoder)
    except USER_ERRORS:
        yield Finding(
            check, "warn", f"{contents}; the encoder could not be loaded to compare it", "see the check encoder"
        )
        return
    if not fits:
        advice = "name that encoder with --encoder, or index again"
        yield Finding(check, "fail", f"{contents}; indexed with another encoder", advice)
        return
    yield Finding(check, "ok", contents)
