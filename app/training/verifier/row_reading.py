"""Read the rows that app.training.verifier.row_files has written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from app.errors import AppError
from app.training.verifier.row_files import FORMAT, LIST
from app.training.verifier.rows import VerifierRows, token_count
from data.json_text import parse_json
from data.pairs import PairExample
from model.checkpoints.minilm import MINILM_SHA256
from model.errors import ModelError
from model.training.pair_rows import PairRow
from model.training.pair_store import unpack_rows, unpacked
from model.verifier.encoder import SUPPORT_CONFIG

_TEXTS = ("evidence", "claim", "question", "source", "group", "answer")


def read_rows(folders: Sequence[Path], notify: Callable[[str], None]) -> VerifierRows:
    """Read the rows of all folders. A claim that several folders hold out is included once.

    Raises AppError that names the folder or file if it is missing or damaged, has another format, tokenizer or window
    size, or trains on a source that another folder holds out.
    """
    found = [_read(folder, notify) for folder in folders]
    first = found[0]
    for folder, other in zip(folders, found, strict=True):
        if other.window_tokens != first.window_tokens:
            raise AppError(
                f"the rows of {folder} have windows of {other.window_tokens} tokens, those of "
                f"{folders[0]} of {first.window_tokens}: build them with the same --window"
            )
        sources = {example.source for example in other.unseen}
        for trained, one in zip(folders, found, strict=True):
            own = {example.source for example in one.unseen}
            if shared := sorted(sources & ({row.source for row in one.rows} - own)):
                raise AppError(
                    f"{folder} holds out {shared[0]!r}, but the rows of {trained} train on it: "
                    "build both with the same --hold-out"
                )
    return VerifierRows(
        rows=tuple(row for one in found for row in one.rows),
        development=tuple(dict.fromkeys(example for one in found for example in one.development)),
        unseen=tuple(dict.fromkeys(example for one in found for example in one.unseen)),
        skipped=(),
        window_tokens=first.window_tokens,
        answer_tokens=max(one.answer_tokens for one in found),
        made={"rows_from": [dict(one.made) for one in found]},
    )


def _read(folder: Path, notify: Callable[[str], None]) -> VerifierRows:
    about = _about(folder)
    rows: list[PairRow] = []
    held_out: list[tuple[bool, PairExample]] = []
    for name, sha256 in about["files"].items():
        content = _content(folder, name, sha256)
        try:
            if name.startswith("part-"):
                rows += unpack_rows(content, about["sources"], SUPPORT_CONFIG.vocab_size)
            elif name.startswith("held-"):
                held_out += [_example(parse_json(line.decode())) for line in unpacked(content).splitlines()]
        except (KeyError, TypeError, ValueError, RecursionError, ModelError) as error:
            raise AppError(f"{folder / name} is damaged ({error}): build the rows again with --rows-to") from error
    if len(rows) != about["rows"]:
        raise AppError(f"{folder} has {len(rows)} rows, but {LIST} lists {about['rows']}: copy the entire folder again")
    notify(f"{len(rows)} rows of {folder}, {token_count(rows) / 1e6:.2f} million tokens")
    return VerifierRows(
        rows=tuple(rows),
        development=tuple(example for unseen, example in held_out if not unseen),
        unseen=tuple(example for unseen, example in held_out if unseen),
        skipped=(),
        window_tokens=about["window_tokens"],
        answer_tokens=about["answer_tokens"],
        made=about["made"],
    )


def _about(folder: Path) -> dict[str, Any]:
    path = folder / LIST
    try:
        about = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise AppError(
            f"{path} cannot be read ({error.strerror}): --rows-from needs a folder written by --rows-to"
        ) from error
    except (ValueError, RecursionError) as error:
        raise AppError(f"{path} is damaged ({error}): build the rows again with --rows-to") from error
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise AppError(f"{path} has another format than this version's {FORMAT}: build the rows again with --rows-to")
    if about.get("minilm") != MINILM_SHA256:
        raise AppError(f"{path} was built for another MiniLM than this version's: build the rows again with --rows-to")
    numbers = [about.get(name) for name in ("rows", "window_tokens", "answer_tokens")]
    sources, files = about.get("sources"), about.get("files")
    if (
        not all(type(number) is int and number >= 0 for number in numbers)
        or not isinstance(sources, list)
        or not all(isinstance(source, str) for source in sources)
        or not isinstance(files, dict)
        or not all(Path(name).name == name and isinstance(sha256, str) for name, sha256 in files.items())
        or not isinstance(about.get("made"), dict)
    ):
        raise AppError(f"{path} is damaged: build the rows again with --rows-to")
    return about


def _content(folder: Path, name: str, sha256: str) -> bytes:
    path = folder / name
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AppError(f"{path} cannot be read ({reason}): copy the entire folder") from error
    if (found := hashlib.sha256(content).hexdigest()) != sha256:
        raise AppError(f"{path} has SHA-256 {found}, but {LIST} lists {sha256}: the file is damaged, copy it again")
    return content


def _example(line: Any) -> tuple[bool, PairExample]:
    """Return whether the source of a held-out claim was excluded from training, and the claim.

    Raises ValueError, KeyError or TypeError for an invalid line.
    """
    texts = {name: line[name] for name in _TEXTS}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("a held-out claim has a field that is not text")
    if not isinstance(line["supported"], bool) or not isinstance(line["unseen"], bool):
        raise ValueError("a held-out claim has no valid label")
    wrong = line["wrong"]
    spans = None if wrong is None else tuple((int(start), int(end)) for start, end in wrong)
    return line["unseen"], PairExample(**texts, supported=line["supported"], wrong=spans)
