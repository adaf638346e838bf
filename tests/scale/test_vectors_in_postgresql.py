"""The command line with its database and its vectors in one PostgreSQL database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from app.cli import main

pytestmark = pytest.mark.scale


def test_index_query_verify_and_delete_without_a_flag_after_the_first(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PLUMBLINE_DATABASE", database_url)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("The harbour of Lagos opens at six. Ships wait outside.")
    (tmp_path / "notes" / "b.txt").write_text("The lamp burns oil for nine hours.")

    def run(*arguments: str) -> str:
        assert main(list(arguments)) == 0
        return capsys.readouterr().out

    index = ("index", str(tmp_path / "notes"), "--collection", "n", "--workers", "0")
    assert "vector index: flat in pgvector" in run(*index, "--vectors", "pgvector")
    found = json.loads(run("retrieve", "When does the harbour open?", "--collection", "n", "-k", "1", "--json"))
    assert "harbour" in json.dumps(found)
    assert json.loads(run("collections", "verify", "n", "--json").splitlines()[-1])["ok"] is True
    (tmp_path / "notes" / "a.txt").unlink()
    assert json.loads(run(*index, "--json"))["vectors"] == "pgvector"
    assert "Lagos" not in run("retrieve", "When does the harbour open?", "--collection", "n", "--json")
    run("collections", "delete", "n", "--yes")
    engine = create_engine(database_url)
    with engine.connect() as connection:
        tables = "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'plumbline_index_%'"
        assert connection.scalar(text(tables)) == 0
    engine.dispose()


def test_the_setting_is_for_new_collections(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    (tmp_path / "a.txt").write_text("The lamp burns oil for nine hours.")
    index = ("index", str(tmp_path / "a.txt"), "--workers", "0", "--json", "--collection")
    assert main([*index, "old"]) == 0
    assert json.loads(capsys.readouterr().out)["vectors"] == "local"
    monkeypatch.setenv("PLUMBLINE_VECTORS", "pgvector")
    monkeypatch.setenv("PLUMBLINE_PGVECTOR_URL", database_url)
    for name, engine in (("old", "local"), ("new", "pgvector")):
        assert main([*index, name]) == 0
        assert json.loads(capsys.readouterr().out)["vectors"] == engine
