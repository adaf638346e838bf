"""If the client of an engine is not installed, the error names the extra before anything is embedded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.documents import Document
from data.store import Store
from retrieval.engines.engines import Engines
from retrieval.engines.record import EngineName
from retrieval.errors import EngineError
from tests.retrieval.engines.conftest import Bench


@pytest.mark.parametrize(
    ("engine", "address", "module"),
    [
        ("milvus", "http://127.0.0.1:9", "grpc"),
        ("milvus", "http://127.0.0.1:9", "pymilvus"),
        ("milvus", "m.db", "pymilvus"),
        ("pgvector", "postgresql+psycopg://someone@127.0.0.1:9/none", "pgvector"),
    ],
)
def test_a_client_that_is_not_installed_names_its_extra(
    store: Store,
    home: Path,
    encoder: Any,
    make_documents: Callable[[int], tuple[Document, ...]],
    monkeypatch: pytest.MonkeyPatch,
    engine: EngineName,
    address: str,
    module: str,
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    given = str(home / address) if address == "m.db" else address
    with Engines(**{engine: given}) as engines, pytest.raises(EngineError) as raised:
        Bench(store, home, encoder, engine, engines, given).index(make_documents(2))
    assert f"plumbline-rag[{engine}]" in str(raised.value)
    assert encoder.encoded == []
