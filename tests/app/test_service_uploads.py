"""Uploads: rejected files, size limits, and repeated uploads."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request
from fastapi.testclient import TestClient

from app.pipeline import Pipeline
from app.service.api.collections_upload import read_form
from app.service.application import create_app
from app.service.http.errors import ApiError
from tests.app.collection_calls import BREAD, TEA, done, done_status, error_code, upload


def test_an_upload_of_which_nothing_is_read_fails_with_the_reasons(client: TestClient, pipeline: Pipeline) -> None:
    client.post("/v1/collections", json={"name": "house"})
    job = done(client, pipeline, upload(client, "house", {"x.exe": "MZ", "empty.txt": "", "bad.pdf": "no pdf"}))
    assert job["status"] == "failed"
    assert {r["where"] for r in job["result"]["refused"]} == {"x.exe", "empty.txt", "bad.pdf"}
    assert str(pipeline.home) not in str(job)
    again = client.post(f"/v1/jobs/{job['id']}/retry")  # its files are still there
    assert done_status(client, pipeline, again) == ("failed", 1)


@pytest.mark.parametrize(
    "name",
    ["../x.txt", "/etc/x.txt", "a/../../x.txt", "a//x.txt", "..\\x.txt", "C:x.txt", ".hidden.txt", "a/.b/x.txt",
     "x\u202etxt.exe", "./x.txt", "a/", " x.txt", "y" * 201],
)  # fmt: skip
def test_a_name_that_leaves_its_folder_is_refused(client: TestClient, pipeline: Pipeline, name: str) -> None:
    assert error_code(upload(client, "notes", {"good.txt": TEA, name: TEA}), 422) == "invalid_value"
    assert client.get("/v1/jobs").json()["data"] == []
    staging = pipeline.home / "staging"
    assert not staging.exists() or list(staging.iterdir()) == []


def test_bodies_that_are_no_upload(client: TestClient) -> None:
    path = "/v1/collections/notes/documents"
    assert error_code(client.post(path, json={}), 415) == "unsupported_media_type"
    assert error_code(client.post(path, content=b"x", headers={"content-type": "multipart/form-data"}), 400)
    kind = {"content-type": "multipart/form-data; boundary=b"}
    assert error_code(client.post(path, content=b"--c\r\n", headers=kind), 400)
    assert error_code(client.post(path, content=b"--b--\r\n", headers=kind), 422) == "invalid_value"
    assert error_code(client.post(path, data={"files": "words"}, files={"other": ("x.txt", b"x")}), 422)
    assert error_code(upload(client, "notes", {"a.txt": "x", "a.txt/b.txt": "y"}), 422) == "invalid_value"
    twice = [("files", ("a.txt", b"x")), ("files", ("a.txt", b"y"))]
    assert error_code(client.post(path, files=twice), 422) == "invalid_value"
    assert error_code(upload(client, "nothing", {"a.txt": "x"}), 404) == "collection_not_found"


def test_a_body_that_is_too_large_is_refused_before_it_is_read(
    make_pipeline: Any, make_settings: Any, home_copy: Path, first_words: Any
) -> None:
    pipeline = make_pipeline(make_settings(home_copy, max_upload_mb=1), first_words())
    with TestClient(create_app(pipeline)) as client:
        large = upload(client, "notes", {"a.txt": b"x" * 1_100_000})
        assert error_code(large, 413) == "body_too_large"
        assert large.headers["connection"] == "close"  # the rest is not read, be it a gigabyte
        page = client.post("/collections/notes/documents", files={"files": ("a.txt", b"x" * 1_100_000)})
        assert (page.status_code, page.headers["connection"]) == (413, "close")


def test_a_body_without_a_length_is_counted_as_it_comes_and_given_up_when_nothing_does() -> None:
    head = b'--b\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    pieces = iter([head, *[b"x" * 1000] * 9])
    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", b"multipart/form-data; boundary=b")]}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": next(pieces), "more_body": True}

    async def never() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(ApiError, match="5000"):
        asyncio.run(read_form(Request(scope, receive), 5000))
    assert len(list(pieces)) == 4  # the rest was never asked for
    with pytest.raises(ApiError, match="body"):
        asyncio.run(read_form(Request(scope, never), 5000, timeout_s=0.01))


def test_a_double_submit_is_one_job(client: TestClient, pipeline: Pipeline) -> None:
    key = {"Idempotency-Key": "one"}
    first = upload(client, "notes", {"tea.txt": TEA}, **key)
    second = upload(client, "notes", {"tea.txt": TEA}, **key)
    assert (first.status_code, second.json()["id"]) == (202, first.json()["id"])
    assert error_code(upload(client, "notes", {"tea.txt": BREAD}, **key), 422) == "idempotency_key_reused"
    assert [path.name for path in (pipeline.home / "staging").iterdir()] == [first.json()["id"]]
    assert done(client, pipeline, second)["result"]["added"] == 1
    assert upload(client, "notes", {"tea.txt": TEA}, **key).json()["status"] == "succeeded"
    # Without a key it is done twice, and the second finds nothing to do.
    assert done(client, pipeline, upload(client, "notes", {"tea.txt": TEA}))["result"]["rebuilt"] is False
    assert list((pipeline.home / "staging").iterdir()) == []


class _Clock(asyncio.SelectorEventLoop):
    """An event loop whose time the test controls."""

    now = 0.0

    def time(self) -> float:
        return self.now


def test_one_byte_a_second_is_given_up() -> None:
    head = b'--b\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    pieces = itertools.chain([head], itertools.repeat(b"x"))
    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", b"multipart/form-data; boundary=b")]}
    loop = _Clock()

    async def receive() -> dict[str, Any]:
        loop.now += 1.0
        await asyncio.sleep(0)  # other tasks are served meanwhile
        return {"type": "http.request", "body": next(pieces), "more_body": True}

    with pytest.raises(ApiError, match="10 kB") as caught:
        loop.run_until_complete(read_form(Request(scope, receive), 10**9, timeout_s=30.0))
    loop.close()
    assert caught.value.status == 408
    assert 30.0 <= loop.now < 33.0


def test_a_form_that_the_disk_does_not_take(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a form are stored in the temporary folder, which may be full."""
    with Path("/dev/full").open("wb", buffering=0) as full:  # what a spooled file is on a full disk
        monkeypatch.setattr("starlette.formparsers.SpooledTemporaryFile", lambda max_size: full)
        response = upload(client, "notes", {"a.txt": b"x" * 3_000_000})
    assert error_code(response, 503) == "disk_full"
    assert int(response.headers["retry-after"]) >= 1
    assert client.get("/v1/jobs").json()["data"] == []
