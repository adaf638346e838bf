"""Read an upload: files of a multipart form, streamed into the staging folder of the job that indexes them.

Limits on size and idle time are checked chunk by chunk, since the complete body is never in memory.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Message

from app.jobs.staging import safe_name
from app.service.http.body_limit import BODY_TIMEOUT_S, too_large
from app.service.http.errors import CLIENT_GONE, ApiError
from app.service.http.problems import storage_problem
from app.service.observability.logs import LOGGER
from data.private import FOLDER_MODE, make_private_folder, private_opener

MOST_FILES = 1000
_PIECE = 1 << 20
_LEAST_RATE = 10_000
"""Minimum rate of a body in bytes per second, in addition to the idle timeout. Without it, a client that sends one byte
per second could hold a connection and its data for years.
"""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A staged file. name: path relative to the staging folder. sha256: hex digest of the content."""

    name: str
    sha256: str


async def read_form(request: Request, most_bytes: int, timeout_s: float = BODY_TIMEOUT_S) -> FormData:
    """Return the form of a request, with its files in temporary files. The caller closes the form.

    Raises ApiError 400, 408, 413 or 415 if the body is not a multipart form, arrives too slowly or is too large, and
    503 if the disk fails.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "multipart/form-data":
        raise ApiError(
            415, "send the files as multipart/form-data, in parts named files", code="unsupported_media_type"
        )
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > most_bytes):
        raise too_large(most_bytes)
    receive = request.receive
    clock = asyncio.get_running_loop().time
    begun = clock()
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        due = begun + timeout_s + seen / _LEAST_RATE
        try:
            async with asyncio.timeout_at(min(clock() + timeout_s, due)):
                message = await receive()
        except TimeoutError:
            slow = clock() >= due
            refusal = f"nothing of the body arrived for {timeout_s:g} seconds"
            refusal = f"the body comes at less than {_LEAST_RATE // 1000} kB a second" if slow and seen else refusal
            raise ApiError(408, refusal, code="request_timeout") from None
        seen += len(message.get("body", b""))
        if seen > most_bytes:
            raise too_large(most_bytes)
        return message

    try:
        return await Request(request.scope, counted).form(max_files=MOST_FILES, max_fields=16)
    except ClientDisconnect as error:
        raise ApiError(CLIENT_GONE, "the client has disconnected", code="client_gone") from error
    except OSError as error:  # form files are buffered in the system's temporary folder
        raise storage_problem(error, logging.getLogger(LOGGER)) from error
    except HTTPException as error:
        raise ApiError(400, f"the form cannot be read: {error.detail}", code="bad_request") from error
    except (KeyError, UnicodeError, ValueError) as error:
        raise ApiError(400, "the form cannot be read: check its boundary", code="bad_request") from error


def files_of(form: FormData) -> list[UploadFile]:
    """Return the files of a form, with validated names.

    Raises ApiError 422 if there are no files or two with one name, and BadNameError for an invalid name.
    """
    files = [value for name, value in form.multi_items() if name == "files" and isinstance(value, UploadFile)]
    # A browser sends an empty file field as a file without a name.
    files = [file for file in files if file.filename or file.size]
    if not files:
        raise ApiError(
            422, "there is no file: send parts named files, each with a file name", code="invalid_value", param="files"
        )
    names = [safe_name(file.filename or "") for file in files]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise ApiError(422, f"two files are called {twice!r}", code="invalid_value", param="files")
    return files


def stage(folder: Path, files: list[UploadFile]) -> tuple[StagedFile, ...]:
    """Create the folder and write the files to it. Raises ApiError 422 if a name is both a file and a folder."""
    staged: list[StagedFile] = []
    make_private_folder(folder.parent)
    folder.mkdir(mode=FOLDER_MODE)
    for file in files:
        name = file.filename or ""
        target = folder / name
        try:
            make_private_folder(target.parent)
            with open(target, "xb", opener=private_opener) as out:
                staged.append(StagedFile(name, _copied(file.file, out.write)))
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            message = f"{name!r} is both a file and a folder"
            raise ApiError(422, message, code="invalid_value", param="files") from None
    return tuple(sorted(staged, key=lambda one: one.name))


def unstage(folder: Path) -> None:
    """Remove the staged files."""
    shutil.rmtree(folder, ignore_errors=True)


def _copied(source: BinaryIO, write: Callable[[bytes], object]) -> str:
    digest = hashlib.sha256()
    source.seek(0)
    while piece := source.read(_PIECE):
        digest.update(piece)
        write(piece)
    return digest.hexdigest()
