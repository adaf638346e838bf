"""An encoder with two precisions keeps the precision of a collection. The machine decides only for new collections."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from data.documents import Document
from data.store import Store
from retrieval.collections import delete_collection, open_retriever
from retrieval.encoding.adapted import AdaptableEncoder, adapted
from retrieval.encoding.sentence_transformer import SentenceTransformerEncoder, load_default_encoder
from retrieval.encoding.subprocess_encoder import SubprocessEncoder
from retrieval.indexing.indexer import JobParams, index_documents
from retrieval.indexing.report import IndexProgress
from retrieval.upkeep.repairing import repair_collection

CATS = Document("cats", "Cats", "Cats purr when they are content. They sleep most of the day.")
MONEY = Document("money", "Central banks", "A central bank sets the interest rate to steer inflation.")
TEXTS = ["Cats purr when they are content.", "A central bank sets the interest rate to steer inflation."]

SetProbe = Callable[[bool], None]


@pytest.fixture(scope="module")
def encoders() -> dict[str, SentenceTransformerEncoder]:
    return {name: load_default_encoder(precision=name) for name in ("fp32", "bf16", "auto")}  # type: ignore[arg-type]


@pytest.fixture
def bf16_pays(monkeypatch: pytest.MonkeyPatch) -> SetProbe:
    """Return a function that sets the result of the machine's probe for bf16."""
    return lambda pays: monkeypatch.setattr("retrieval.encoding.sentence_transformer._bf16_pays", lambda device: pays)


def test_a_new_collection_gets_what_pays_here_and_others_what_they_have(
    encoders: dict[str, SentenceTransformerEncoder], bf16_pays: SetProbe
) -> None:
    fp32, bf16, auto = (encoders[name] for name in ("fp32", "bf16", "auto"))
    # For queries, runs and judges it is the same on every machine. Only a job probes the machine.
    assert auto.fingerprint == fp32.fingerprint
    np.testing.assert_array_equal(auto.encode_passages(TEXTS), fp32.encode_passages(TEXTS))
    for pays, new in ((True, bf16), (False, fp32)):
        bf16_pays(pays)
        for known in (None, "f" * 64):
            assert adapted(auto, known).fingerprint == new.fingerprint
        for had in (fp32, bf16):
            same = adapted(auto, had.fingerprint)
            assert (same.fingerprint, same.dimension, same.max_tokens) == (had.fingerprint, 384, 256)
            np.testing.assert_array_equal(same.encode_passages(TEXTS), had.encode_passages(TEXTS))
            np.testing.assert_array_equal(same.encode_queries(TEXTS), fp32.encode_queries(TEXTS))
            assert same.count_tokens(TEXTS) == fp32.count_tokens(TEXTS)
    for named in (fp32, bf16):  # a given precision is used
        assert adapted(named, fp32.fingerprint) is named and adapted(named, bf16.fingerprint) is named


@pytest.mark.drill
def test_so_does_one_in_a_process_of_its_own(encoders: dict[str, SentenceTransformerEncoder]) -> None:
    with SubprocessEncoder(partial(load_default_encoder, precision="auto")) as subprocess_encoder:
        assert (
            isinstance(subprocess_encoder, AdaptableEncoder)
            and set(subprocess_encoder.passage_modes) == encoders["fp32"].serves
        )
        for name in ("fp32", "bf16"):
            had = adapted(subprocess_encoder, encoders[name].fingerprint)
            np.testing.assert_allclose(
                had.encode_passages(TEXTS), encoders[name].encode_passages(TEXTS), rtol=0, atol=1e-6
            )
        bf16 = adapted(subprocess_encoder, encoders["bf16"].fingerprint)
        assert subprocess_encoder.running
        bf16.release()  # type: ignore[attr-defined]
        assert not subprocess_encoder.running


@pytest.mark.parametrize("pays", [True, False])
def test_an_index_job_goes_on_in_the_collections_precision_on_any_machine(
    encoders: dict[str, SentenceTransformerEncoder], bf16_pays: SetProbe, store: Store, home: Path, pays: bool
) -> None:
    auto, new = encoders["auto"], encoders["bf16" if pays else "fp32"]
    bf16_pays(pays)
    first = index_documents(store, home, "c", [CATS], auto)
    assert open_retriever(store, home, "c", auto).indexed_with == new.fingerprint
    assert index_documents(store, home, "c", [CATS], new).generation_hash == first.generation_hash
    bf16_pays(not pays)  # another machine, or a noisy one
    second = index_documents(store, home, "c", [CATS, MONEY], auto)
    assert (second.embedded, second.reused) == (1, 1)
    retriever = open_retriever(store, home, "c", auto)
    assert retriever.indexed_with == new.fingerprint
    assert retriever.retrieve("Who decides what borrowing costs?", 1)[0].chunk.document_id == "money"
    # With the other precision given, the index is another one.
    other = index_documents(store, home, "c", [CATS, MONEY], encoders["fp32" if pays else "bf16"])
    assert (other.embedded, other.rebuilt) == (2, True)


def test_a_run_that_was_killed_is_taken_up_in_the_precision_it_began_in(
    encoders: dict[str, SentenceTransformerEncoder], bf16_pays: SetProbe, store: Store, home: Path
) -> None:
    auto, given, job = encoders["auto"], [CATS, MONEY], JobParams(workers=0, texts_per_call=1)

    def stop(progress: IndexProgress) -> None:
        if progress.phase == "words":
            raise KeyboardInterrupt

    bf16_pays(True)
    with pytest.raises(KeyboardInterrupt):
        index_documents(store, home, "killed", given, auto, job=job, progress=stop)
    bf16_pays(False)
    again = index_documents(store, home, "killed", given, auto, job=job)
    assert (again.embedded, again.reused) == (0, 2)
    assert again.generation_hash == index_documents(store, home, "whole", given, encoders["bf16"]).generation_hash


def test_vectors_of_a_deleted_collection_decide_nothing(
    encoders: dict[str, SentenceTransformerEncoder], bf16_pays: SetProbe, store: Store, home: Path
) -> None:
    for name in ("old", "other"):  # they have the same text, so the vector is kept when one collection is deleted
        index_documents(store, home, name, [CATS], encoders["fp32"])
    delete_collection(store, home, "old")
    bf16_pays(True)
    assert index_documents(store, home, "new", [CATS], encoders["auto"]).embedded == 1
    assert open_retriever(store, home, "new", encoders["auto"]).indexed_with == encoders["bf16"].fingerprint


def test_repair_needs_no_word_of_the_precision(
    encoders: dict[str, SentenceTransformerEncoder], bf16_pays: SetProbe, store: Store, home: Path
) -> None:
    bf16_pays(True)
    made = index_documents(store, home, "c", [CATS, MONEY], encoders["auto"])
    for path in home.rglob("*.npy"):
        path.write_bytes(b"damaged")
    bf16_pays(False)
    repaired = repair_collection(store, home, "c", encoders["auto"])
    assert not repaired.after.problems and made.generation_hash[:12] in " ".join(repaired.done)
