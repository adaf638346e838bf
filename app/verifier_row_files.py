"""A verifier's rows as a folder, made on one machine and trained on by another: whole, checked, in small files.

``rows.json`` names the files and their SHA-256; ``part-*.xz`` hold the rows, ``held-*.xz`` the claims held out to
calibrate and score on. Every file stays under 15 MB.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.errors import AppError
from app.verifier_rows import VerifierRows, token_count
from data.pairs import PairExample
from model.errors import ModelError
from model.files import sha256_of, write_json
from model.minilm import MINILM_SHA256
from model.training.pair_store import PART_BYTES, pack_rows, unpack_rows, unpacked

LIST = "rows.json"
_FORMAT = 1


def refuse_taken(folder: Path) -> None:
    """Raises AppError where something lies there already."""
    if folder.exists():
        raise AppError(f"{folder} is there already: name another folder for the rows, or remove that one")


def write_rows(rows: VerifierRows, folder: Path) -> tuple[Path, ...]:
    """Write the folder, whole or not at all; its files. Raises AppError when it is there, or cannot be written."""
    aside = folder.with_name(f".{folder.name}.part")
    try:
        refuse_taken(folder)
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        sources = sorted({row.source for row in rows.rows})
        for number, part in enumerate(pack_rows(rows.rows, sources)):
            (aside / f"part-{number:04d}.xz").write_bytes(part)
        for number, lines in enumerate(_held(rows)):
            (aside / f"held-{number:04d}.xz").write_bytes(lzma.compress(lines))
        files = sorted(aside.iterdir())
        about = {
            "format": _FORMAT,
            "minilm": MINILM_SHA256,  # whose tokens they are
            "window_tokens": rows.window_tokens,
            "answer_tokens": rows.answer_tokens,
            "rows": len(rows.rows),
            "sources": sources,
            "skipped": list(rows.skipped),
            "made": dict(rows.made),
            "files": {file.name: sha256_of(file) for file in files},
        }
        write_json(aside / LIST, about)
        aside.rename(folder)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise AppError(f"the rows cannot be written to {folder}: {error.strerror or error}") from error
    return tuple(sorted(folder.iterdir()))


def read_rows(folders: Sequence[Path], say: Callable[[str], None]) -> VerifierRows:
    """The rows of one or several folders, one after another; a claim that several hold out counts once.

    Raises AppError naming the folder or file that is missing, damaged, of another format or tokenizer, or does not go
    with the first one: other windows, or other sources held out.
    """
    found = [_read(folder, say) for folder in folders]
    first = found[0]
    for folder, other in zip(folders, found, strict=True):
        if other.window_tokens != first.window_tokens:
            raise AppError(
                f"the rows of {folder} have windows of {other.window_tokens} tokens, those of {folders[0]} of "
                f"{first.window_tokens}: make them with one --window"
            )
        if other.made.get("hold_out") != first.made.get("hold_out"):
            raise AppError(f"the rows of {folder} and {folders[0]} hold out different sources: give both the same")
    return VerifierRows(
        rows=tuple(row for one in found for row in one.rows),
        development=tuple(dict.fromkeys(example for one in found for example in one.development)),
        unseen=tuple(dict.fromkeys(example for one in found for example in one.unseen)),
        skipped=tuple(line for one in found for line in one.skipped),
        window_tokens=first.window_tokens,
        answer_tokens=max(one.answer_tokens for one in found),
        made={"rows_from": [dict(one.made) for one in found]},
    )


def _read(folder: Path, say: Callable[[str], None]) -> VerifierRows:
    about = _about(folder)
    try:
        rows = [
            row
            for name in about["files"]
            if name.startswith("part-")
            for row in _rows(folder, name, about["files"][name], about["sources"])
        ]
        held = [
            json.loads(line)
            for name in about["files"]
            if name.startswith("held-")
            for line in unpacked(_content(folder, name, about["files"][name])).splitlines()
        ]
        examples = [(line.pop("unseen"), PairExample(**_example(line))) for line in held]
        if len(rows) != about["rows"]:
            raise ValueError(f"{len(rows)} rows for {about['rows']}")
        read = VerifierRows(
            rows=tuple(rows),
            development=tuple(example for unseen, example in examples if not unseen),
            unseen=tuple(example for unseen, example in examples if unseen),
            skipped=tuple(about["skipped"]),
            window_tokens=about["window_tokens"],
            answer_tokens=about["answer_tokens"],
            made=dict(about["made"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, ModelError) as error:
        raise AppError(f"{folder / LIST} is damaged ({error!r}): make the rows again, with --rows-to") from error
    say(f"{len(rows)} rows of {folder}, {token_count(rows) / 1e6:.2f} million tokens")
    return read


def _about(folder: Path) -> dict[str, Any]:
    path = folder / LIST
    try:
        about = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise AppError(
            f"{path} cannot be read ({error.strerror}): --rows-from wants a folder that --rows-to has written"
        ) from error
    except (ValueError, RecursionError) as error:
        raise AppError(f"{path} is damaged ({error!r}): make the rows again, with --rows-to") from error
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise AppError(
            f"{path} is of another format than this program's {_FORMAT}: make the rows again, with --rows-to"
        )
    names = about.get("files")
    if not isinstance(names, dict) or any(Path(name).name != name for name in names):
        raise AppError(f"{path} names what is no file of its folder: make the rows again, with --rows-to")
    if about.get("minilm") != MINILM_SHA256:
        raise AppError(f"{path} was made with another MiniLM than this machine has: install the same one on both")
    return about


def _content(folder: Path, name: str, sha256: str) -> bytes:
    path = folder / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise AppError(f"{path} cannot be read ({error.strerror}): carry the whole folder") from error
    if (found := hashlib.sha256(content).hexdigest()) != sha256:
        raise AppError(f"{path} has SHA-256 {found}, {LIST} says {sha256}: the file is damaged, carry it again")
    return content


def _rows(folder: Path, name: str, sha256: str, sources: Sequence[str]) -> Iterator[Any]:
    try:
        yield from unpack_rows(_content(folder, name, sha256), sources)
    except ModelError as error:
        raise AppError(f"{folder / name}: {error}") from error


def _held(rows: VerifierRows) -> Iterator[bytes]:
    """JSON lines, in pieces of about PART_BYTES."""
    lines: list[bytes] = []
    size = 0
    for unseen, examples in ((False, rows.development), (True, rows.unseen)):
        for example in examples:
            line = json.dumps({**asdict(example), "unseen": unseen}, ensure_ascii=False).encode() + b"\n"
            if lines and size + len(line) > PART_BYTES:
                yield b"".join(lines)
                lines, size = [], 0
            lines.append(line)
            size += len(line)
    if lines:
        yield b"".join(lines)


def _example(line: dict[str, Any]) -> dict[str, Any]:
    """JSON has lists where examples have tuples."""
    wrong = line["wrong"]
    return {**line, "wrong": None if wrong is None else tuple((start, end) for start, end in wrong)}
