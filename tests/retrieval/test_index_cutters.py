from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from data.outline import Outline
from retrieval.chunking.chunker import ChunkingParams
from retrieval.chunking.token_counting import TokenizerCounter
from retrieval.errors import RetrievalError
from retrieval.indexing.chunker_pool import ChunkerPool, TextToChunk


@pytest.fixture
def counter() -> TokenizerCounter:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return TokenizerCounter(tokenizer.to_str())


def texts(count: int) -> list[TextToChunk]:
    return [
        TextToChunk(" ".join(f"Sentence {i} of text {n} has eight words here." for i in range(n % 7 + 1)), Outline())
        for n in range(count)
    ]


@pytest.mark.drill
def test_processes_cut_as_one_does_and_a_killed_one_is_named(counter: TokenizerCounter) -> None:
    params = ChunkingParams(max_tokens=20)
    given = texts(37)
    with ChunkerPool(counter, params) as alone:
        wanted = alone.chunk(given)
    with ChunkerPool(counter, params, workers=2, min_characters=10) as cutters:
        found = cutters.chunk(given)
        assert [spans.tolist() for spans in found] == [spans.tolist() for spans in wanted]
        assert cutters.chunk(given[:1])[0].tolist() == wanted[0].tolist()
        assert cutters.chunk([]) == []
        with pytest.raises(ValueError, match="surrogate"):  # what a worker raises is raised here
            cutters.chunk([TextToChunk("half of a pair \ud800 " * 10, Outline())])
        assert len(cutters.chunk(given)) == 37  # and the worker goes on
        pids = [process.pid for process in cutters._processes]
        os.kill(pids[0], signal.SIGKILL)
        with pytest.raises(RetrievalError, match="ended"):
            for _ in range(3):  # the pipe may take one more task before its end is seen
                cutters.chunk(given)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_few_characters_start_no_process(counter: TokenizerCounter) -> None:
    with ChunkerPool(counter, ChunkingParams(max_tokens=20), workers=2) as cutters:
        assert len(cutters.chunk(texts(5))) == 5
        assert cutters._processes == []


def test_counting_goes_to_another_process_and_back_unchanged(counter: TokenizerCounter) -> None:
    import pickle

    again = pickle.loads(pickle.dumps(counter))
    assert again(["a b c", "", "d"]) == counter(["a b c", "", "d"]) == (3, 0, 1)
    assert again.definition == counter.definition


def test_a_negative_number_of_workers_is_refused(counter: TokenizerCounter) -> None:
    with pytest.raises(RetrievalError, match=r"workers.*-1"):
        ChunkerPool(counter, ChunkingParams(), workers=-1)


def test_spans_are_rows(counter: TokenizerCounter) -> None:
    with ChunkerPool(counter, ChunkingParams(max_tokens=20)) as cutters:
        (spans,) = cutters.chunk([TextToChunk("   \n", Outline())])
    assert spans.shape == (0, 2)
    assert spans.dtype == np.int64
