"""compose.yaml and the Dockerfile: hardened services, commands and settings that exist, and all that a build needs."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from app.cli import build_parser
from app.settings import Settings
from tests.deployment import ROOT, build_context, image_environment, instructions, services, substituted

OURS = ("api", "worker")


@pytest.mark.parametrize("name", list(services()))
def test_every_service_is_hardened_and_watched(name: str) -> None:
    service = services()[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["user"].split(":")[0] not in ("", "0", "root")
    assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
    assert not {"privileged", "network_mode", "pid", "cap_add", "devices"} & set(service)
    assert all(str(port).startswith("127.0.0.1:") for port in service.get("ports", ()))


@pytest.mark.parametrize("name", OURS)
def test_commands_and_settings_exist(name: str) -> None:
    service = services()[name]
    build_parser().parse_args(service["command"])
    known = {f"PLUMBLINE_{field.upper()}" for field in Settings.model_fields}
    assert {key for key in service["environment"] if key.startswith("PLUMBLINE_")} <= known
    home = service["environment"]["PLUMBLINE_HOME"]
    assert [volume.split(":")[1] for volume in service["volumes"]] == [home]


def test_two_servers_one_worker_and_the_model_only_on_request() -> None:
    assert services()["api"]["deploy"]["replicas"] == 2
    assert "--no-worker" in services()["api"]["command"]
    assert "--require-key" in services()["api"]["command"]
    assert services()["llama"]["profiles"] == ["llm"]
    assert all("profiles" not in services()[name] for name in (*OURS, "postgres"))


def test_no_password_is_written_down() -> None:
    for service in services().values():
        for key, value in service.get("environment", {}).items():
            if "PASSWORD" in key or key == "PLUMBLINE_DATABASE":
                with pytest.raises(KeyError):
                    substituted(value)
    url = substituted(services()["api"]["environment"]["PLUMBLINE_DATABASE"], POSTGRES_PASSWORD="word")
    assert url == "postgresql+psycopg://plumbline:word@postgres/plumbline"


def test_the_worker_is_watched_by_the_file_that_it_touches() -> None:
    worker = services()["worker"]
    (option,) = [part for part in worker["command"] if part.startswith("--alive-file=")]
    assert option.partition("=")[2] in worker["healthcheck"]["test"][1]


def test_the_image_runs_as_the_user_of_the_services() -> None:
    users = [rest for word, rest in instructions() if word == "USER"]
    assert users == [services()["api"]["user"]] == [services()["worker"]["user"]]
    assert image_environment()["PLUMBLINE_HOME"] == services()["api"]["environment"]["PLUMBLINE_HOME"]
    entry = [rest for word, rest in instructions() if word == "ENTRYPOINT"]
    assert entry == ['["plumbline"]']


def test_the_build_context_holds_what_the_package_is_made_of() -> None:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    context = set(build_context())
    needed = {"pyproject.toml", "constraints.txt", project["project"]["readme"], *project["project"]["license-files"]}
    needed |= {f"{name}.py" for name in project["tool"]["setuptools"]["py-modules"]}
    assert needed <= context
    folders = {name.rstrip("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]}
    assert {name.split("/")[0] for name in context if "/" in name} == folders
    assert not [name for name in context if name.startswith((".env", "tests/"))]
