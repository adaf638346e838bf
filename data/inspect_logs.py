"""Read logs of Inspect AI (UK AISI), in JSON and as .eval archives. Each sample of each epoch is a row with an answer.

Differences between versions are normalised. The completion is in ``output.completion`` or only in the message of the
first choice, the input is a text or a list of messages, and long texts are attachments
(https://inspect.aisi.org.uk/eval-logs.html).
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from data.errors import DataError
from data.plain_values import plain_value
from data.refused import Refused, shown
from data.rows import Row

MAX_SAMPLE_BYTES = 100_000_000
"""Maximum uncompressed size of a sample in an archive."""
_SAMPLE = re.compile(r"(?:samples/.+_epoch_\d+|header)\.json")
_ATTACHMENT = "attachment://"


def is_inspect_log(value: object) -> bool:
    """Return whether a JSON document is a log with samples."""
    if not isinstance(value, Mapping) or not isinstance(value.get("eval"), Mapping):
        return False
    return isinstance(value.get("samples"), list) and ("status" in value or "task" in value["eval"])


def is_inspect_archive(path: Path) -> bool:
    """Return whether a file is an .eval archive: a zip file with header.json."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "header.json" in archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def log_rows(log: Mapping[str, Any], name: str) -> Iterator[Row | Refused]:
    """Yield the rows of a log. name: display name of the file."""
    model = _model(log.get("eval"))
    for number, sample in enumerate(log["samples"], start=1):
        yield _row(sample, number, f"{name}, sample {number}", model)


def archive_rows(path: Path) -> Iterator[Row | Refused]:
    """Yield the rows of an .eval archive, in the order of its entries. Raises DataError if it is unreadable."""
    name = shown(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if _SAMPLE.fullmatch(entry.filename)]
            header = next((entry for entry in entries if entry.filename == "header.json"), None)
            read = {} if header is None else _object(archive, header)
            model = _model(read.get("eval") if isinstance(read, Mapping) else None)
            samples = [entry for entry in entries if entry is not header]
            if not samples:
                raise DataError(f"{name} contains no samples: was its evaluation completed?")
            for number, entry in enumerate(samples, start=1):
                where = f"{name}, {entry.filename}"
                try:
                    yield _row(_object(archive, entry), number, where, model)
                except (ValueError, RecursionError, zlib.error) as error:
                    yield Refused(where, f"it cannot be read: {error}")
    except NotImplementedError as error:
        raise DataError(
            f"{name} uses a compression that is not supported ({error}): write it as JSON with inspect log convert "
            f"{path.name} --to json --output-dir DIR"
        ) from error
    except (OSError, zipfile.BadZipFile, ValueError, zlib.error) as error:
        raise DataError(f"{name} cannot be read as a log of Inspect ({error}): is it damaged?") from error


def _object(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> object:
    with archive.open(entry) as file:
        content = file.read(MAX_SAMPLE_BYTES + 1)
    if len(content) > MAX_SAMPLE_BYTES:
        raise ValueError(f"it has more than {MAX_SAMPLE_BYTES:,} bytes")
    return json.loads(content)


def _model(evaluation: object) -> str:
    found = evaluation.get("model") if isinstance(evaluation, Mapping) else None
    return found if isinstance(found, str) else ""


def _row(sample: object, number: int, where: str, model: str) -> Row | Refused:
    if not isinstance(sample, Mapping):
        return Refused(where, "it must be an object")
    files = sample.get("attachments")
    attachments = files if isinstance(files, Mapping) else {}
    output = sample.get("output")
    answer = _attached(_completion(output), attachments)
    if answer is None:
        error = sample.get("error")
        why = error.get("message") if isinstance(error, Mapping) else None
        return Refused(where, f"it has no answer{f' (its error: {str(why)[:200]})' if why else ''}")
    named = output.get("model") if isinstance(output, Mapping) else None
    fields = {
        "id": sample.get("id"),
        "epoch": sample.get("epoch"),
        "input": _attached(_question_text(sample.get("input")), attachments),
        "output": {"completion": answer},
        "target": [_attached(one, attachments) for one in _listed(sample.get("target"))],
        "metadata": sample.get("metadata"),
        "model": model or named,
    }
    try:
        return Row(number, where, {key: plain_value(value) for key, value in fields.items()})
    except (ValueError, RecursionError) as error:
        return Refused(where, f"it cannot be read: {error}")


def _completion(output: object) -> object:
    """Return the text of an output; None if there is no answer."""
    if not isinstance(output, Mapping):
        return None
    text = output.get("completion")
    if isinstance(text, str) and text:
        return text
    choices = output.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        if isinstance(message, Mapping):
            return _content(message.get("content"))
    return text if isinstance(text, str) and not output.get("error") else None


def _question_text(given: object) -> object:
    """Return the question of an input: the text, or the last user message."""
    if not isinstance(given, list):
        return given
    texts = [_content(m.get("content")) for m in given if isinstance(m, Mapping) and m.get("role") == "user"]
    return texts[-1] if texts else ""


def _content(content: object) -> object:
    """Return the text of a message, whose content may be a list of parts."""
    if not isinstance(content, list):
        return content
    parts = (part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text")
    return "\n".join(text for text in parts if isinstance(text, str))


def _attached(value: object, attachments: Mapping[str, object]) -> object:
    """Return the attachment that the value refers to; other values are returned unchanged."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    return value


def _listed(target: object) -> list[object]:
    items = target if isinstance(target, list) else [target]
    return [item for item in items if item not in (None, "")]
