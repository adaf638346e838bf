"""The service under a URL path prefix: every link, form and redirect of its pages contains the prefix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.cli import main
from app.pipeline import Pipeline
from app.service.application import create_app
from app.service.http.sub_path import checked_root_path
from app.settings import Settings

ROOT = "/tools/plumbline"
_LINK = re.compile(r"""\b(?:href|action|formaction|src)="(/[^"]*)\"""")


@pytest.fixture(scope="module")
def client(small_pipeline: Pipeline) -> Iterator[TestClient]:
    with TestClient(create_app(small_pipeline, root_path=f"{ROOT}/"), follow_redirects=False) as opened:
        yield opened


PAGES = ["/", "/collections", "/collections/notes", "/evaluations", "/login"]


@pytest.mark.parametrize("page", PAGES)
def test_all_that_a_page_leads_to_is_below_the_path(client: TestClient, page: str) -> None:
    full = client.get(ROOT + page)
    assert full.status_code == 200
    links = set(_LINK.findall(full.text))
    assert links
    assert all(link.startswith(f"{ROOT}/") for link in links), links
    for link in sorted(links):
        assert client.get(link).status_code in (200, 405), link
    # A proxy that takes the path off gives the same page.
    assert set(_LINK.findall(client.get(page).text)) == links


def test_without_a_path_links_are_as_before(small_pipeline: Pipeline) -> None:
    with TestClient(create_app(small_pipeline)) as plain:
        links = set(_LINK.findall(plain.get("/collections").text))
        assert "/evaluations" in links
        assert plain.get(f"{ROOT}/collections").status_code == 404


def test_the_path_without_a_slash_is_the_first_page_and_others_are_not_found(client: TestClient) -> None:
    assert client.get(ROOT).status_code == 200
    assert client.get(f"{ROOT}x/collections").status_code == 404
    assert client.get(f"{ROOT}{ROOT}/collections").status_code == 404


def test_redirects_and_locations_are_below_the_path(home_copy: Path, make_settings: object) -> None:
    settings = make_settings(home_copy)  # type: ignore[operator]
    assert isinstance(settings, Settings)
    with TestClient(create_app(settings, root_path=ROOT), follow_redirects=False) as client:
        form = {"content-type": "application/x-www-form-urlencoded"}
        made = client.post(f"{ROOT}/collections", content="name=harbour", headers=form)
        assert (made.status_code, made.headers["location"]) == (303, f"{ROOT}/collections/harbour")
        assert client.get(made.headers["location"]).status_code == 200
        second = client.post(f"{ROOT}/v1/collections", json={"name": "quay"})
        assert (second.status_code, second.headers["location"]) == (201, f"{ROOT}/v1/collections/quay")


def test_a_browser_without_a_key_is_sent_to_the_login_below_the_path(home_copy: Path, make_settings: object) -> None:
    with TestClient(
        create_app(make_settings(home_copy), root_path=ROOT, require_key=True),  # type: ignore[operator]
        follow_redirects=False,
    ) as client:
        sent = client.get(f"{ROOT}/collections", headers={"accept": "text/html"})
        assert (sent.status_code, sent.headers["location"]) == (303, f"{ROOT}/login")


def test_the_api_and_its_description(client: TestClient) -> None:
    assert client.get(f"{ROOT}/livez").json() == {"status": "live"}
    assert client.get(f"{ROOT}/openapi.json").json()["servers"] == [{"url": ROOT}]
    body = {"model": "notes", "messages": [{"role": "user", "content": "Hello!"}]}
    assert client.post(f"{ROOT}/v1/chat/completions", json=body).status_code == 200
    refused = client.post(f"{ROOT}/v1/chat/completions", json={"model": "notes", "messages": []})
    assert refused.status_code == 400


def test_the_script_asks_where_its_form_does() -> None:
    script = (Path(__file__).parents[2] / "app" / "templates" / "ask.js").read_text("utf-8")
    assert '"/v1' not in script


@pytest.mark.parametrize(("path", "checked"), [("", ""), ("/", ""), ("/a", "/a"), ("/a/b-c.d/", "/a/b-c.d")])
def test_paths(path: str, checked: str) -> None:
    assert checked_root_path(path) == checked


@pytest.mark.parametrize(
    "path", ["a", "//", "//evil.example", "/a//b", "/../a", "/a/..", "/a b", "/a?b", '/"><script>']
)
def test_what_is_no_path(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    if path.strip("/"):
        with pytest.raises(ValueError, match="not a path"):
            checked_root_path(path)
        assert main(["serve", "--root-path", path]) == 2
        assert "--root-path" in capsys.readouterr().err
