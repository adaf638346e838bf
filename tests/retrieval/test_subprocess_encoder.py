from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from data.documents import Document
from data.store import Store
from model.errors import ModelError
from retrieval.encoding.encoder import Encoder, serves
from retrieval.encoding.subprocess_encoder import SubprocessEncoder
from retrieval.errors import RetrievalError
from retrieval.indexing.indexer import JobParams, index_documents
from retrieval.indexing.report import IndexProgress
from tests.retrieval import subprocess_encoders as made

TEXTS = ["one text", "another one of six words", ""]


@pytest.fixture
def encoder() -> Iterator[SubprocessEncoder]:
    with SubprocessEncoder(made.HashedText) as encoder:
        yield encoder


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A named pipe. Opening either end waits for the other end."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def same(encoder: Encoder) -> bool:
    here = made.HashedText()
    return bool(
        np.array_equal(encoder.encode_passages(TEXTS), here.encode_passages(TEXTS))
        and np.array_equal(encoder.encode_queries(TEXTS), here.encode_queries(TEXTS))
        and encoder.encode_passages([]).shape == (0, 16)
    )


def test_it_is_the_encoder_and_rests_between_calls(encoder: SubprocessEncoder) -> None:
    here = made.HashedText()
    assert not encoder.running
    assert encoder.fingerprint == here.fingerprint
    assert encoder.running
    assert (encoder.dimension, encoder.max_tokens) == (16, 256)
    assert encoder.count_tokens(TEXTS) == encoder.portable_counter()(TEXTS) == (2, 5, 0)
    assert serves(encoder, here.fingerprint) and not serves(encoder, "another")
    assert same(encoder)
    encoder.release()
    assert not encoder.running
    assert encoder.fingerprint == here.fingerprint and encoder.count_tokens(TEXTS) == (2, 5, 0)
    assert not encoder.running  # its properties are stored
    assert same(encoder)
    assert encoder.running
    encoder.release()
    encoder.release()


def test_threads_take_turns_and_what_is_known_does_not_wait(encoder: SubprocessEncoder, pipe: Path) -> None:
    known = encoder.fingerprint
    with ThreadPoolExecutor(9) as threads:
        blocked = threads.submit(encoder.encode_passages, [f"read {pipe}"])
        with pipe.open("wb"):  # opens once the encoder's process reads it
            assert threads.submit(lambda: encoder.fingerprint).result(timeout=20) == known
            assert not blocked.done()
        found = list(threads.map(lambda n: encoder.encode_passages([f"text {n}"]), range(40)))
    here = made.HashedText()
    assert all(np.array_equal(found[n], here.encode_passages([f"text {n}"])) for n in range(40))


@pytest.mark.parametrize(
    ("make", "kind", "expected"),
    [
        (made.missing, RetrievalError, "'nowhere'"),
        (made.deviceless, ModelError, "0 CUDA devices"),
        (made.broken, RuntimeError, "UnicodeDecodeError: .*of the weights"),
        (made.Uncounted, RetrievalError, "token counter"),
    ],
)
def test_what_opening_raises_is_raised_by_the_first_use(
    make: Callable[[], Encoder], kind: type[Exception], expected: str
) -> None:
    with SubprocessEncoder(make) as encoder:
        for _ in range(2):
            with pytest.raises(kind, match=expected):
                _ = encoder.dimension
            assert not encoder.running


def test_what_embedding_raises_is_raised_here_and_the_next_call_is_answered(encoder: SubprocessEncoder) -> None:
    with pytest.raises(RetrievalError, match="'refuse'"):
        encoder.encode_passages(["refuse"])
    assert encoder.running
    with pytest.raises(RuntimeError, match=r"(?s)in encode_passages.*stumbled"):
        encoder.encode_passages(["stumble"])
    assert same(encoder)


def test_a_process_that_dies_is_named_and_replaced(encoder: SubprocessEncoder) -> None:
    with pytest.raises(RetrievalError, match="-9"):
        encoder.encode_passages(["die"])
    assert same(encoder)


@pytest.mark.serial
def test_an_interrupted_call_leaves_no_answer_for_the_next(encoder: SubprocessEncoder, pipe: Path) -> None:
    assert same(encoder)
    caller, over = threading.get_ident(), threading.Event()

    def interrupt() -> None:
        with pipe.open("wb"):  # opens once the encoder's process reads it
            signal.pthread_kill(caller, signal.SIGALRM)
            over.wait(60)

    interrupter = threading.Thread(target=interrupt)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    interrupter.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            encoder.encode_passages([f"read {pipe}"])
    finally:
        over.set()
        interrupter.join()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert not encoder.running
    assert same(encoder)


def test_an_encoder_that_has_become_another_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "salt"
    path.write_text("a")
    with SubprocessEncoder(partial(made.of_file, path)) as encoder:
        first = encoder.fingerprint
        encoder.release()
        path.write_text("b")
        with pytest.raises(RetrievalError, match="has changed"):
            encoder.encode_passages(["text"])
        assert encoder.fingerprint == first
        path.write_text("a")
        assert encoder.encode_passages(["text"]).shape == (1, 16)


def test_its_caches_are_bounded_before_torch_is_there(
    encoder: SubprocessEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in made.CAPACITIES:
        monkeypatch.delenv(name, raising=False)
    assert encoder.serves > {"torch=False", *(f"{name}=8" for name in made.CAPACITIES)}


def test_a_job_embeds_with_it_and_builds_without_it(
    encoder: SubprocessEncoder, store: Store, home: Path, make_documents: Callable[[int], tuple[Document, ...]]
) -> None:
    documents = make_documents(30)
    seen: dict[str, set[bool]] = {}

    def look(progress: IndexProgress) -> None:
        seen.setdefault(progress.phase, set()).add(encoder.running)

    report = index_documents(store, home, "c", documents, encoder, progress=look, job=JobParams(workers=1))
    assert report.embedded > 0 and report.rebuilt
    assert seen["vectors"] == {True}
    assert seen["words"] == seen["index"] == seen["publishing"] == {False}
    again = index_documents(store, home, "d", documents, made.HashedText(), job=JobParams(workers=0))
    assert again.generation_hash == report.generation_hash
    assert again.embedded == 0  # its vectors are the same encoder's
    with SubprocessEncoder(made.HashedText) as fresh:
        assert not index_documents(store, home, "c", documents, fresh).rebuilt
        assert not fresh.running  # only its properties were requested


def test_it_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    code = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(made.__file__).parents[2])!r})
if __name__ == "__main__":
    import multiprocessing
    from tests.retrieval import subprocess_encoders
    from retrieval.encoding.subprocess_encoder import SubprocessEncoder
    encoder = SubprocessEncoder(subprocess_encoders.HashedText)
    encoder.encode_passages(["text"])
    print(*[child.pid for child in multiprocessing.active_children()], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    script = tmp_path / "killed.py"
    script.write_text(code)
    # A pipe is not used, because the orphan that the test looks for might hold it open.
    with (tmp_path / "said").open("w") as log:
        done = subprocess.run([sys.executable, str(script)], stdout=log, env=os.environ, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    (pid,) = map(int, (tmp_path / "said").read_text().split())
    try:
        orphan = os.pidfd_open(pid)
    except ProcessLookupError:  # it has ended already
        return
    try:
        assert select.select([orphan], [], [], 20)[0], "the process of the encoder is still there"
    finally:
        os.close(orphan)


def interrupted(
    tmp_path: Path, make: str, until: bytes, whom: Callable[[int, int], None], blocked: Path | None = None
) -> tuple[list[bytes], bytes]:
    """Output of a script that opens ``make`` and is interrupted when a line begins with ``until``.

    The number at the end of that line is the process of the encoder. blocked: a named pipe on which this process waits
    while it is imported.
    """
    script = tmp_path / "interrupted.py"
    script.write_text(f"""
import os, sys
sys.path.insert(0, {str(Path(made.__file__).parents[2])!r})
if __name__ == "__mp_main__" and {str(blocked or "")!r}:  # imported by the encoder's process, which takes a while
    print("importing", os.getpid(), flush=True)
    open({str(blocked or "")!r}).close()  # a named pipe: blocks until somebody opens its other end
if __name__ == "__main__":
    from tests.retrieval import subprocess_encoders
    from retrieval.encoding.subprocess_encoder import SubprocessEncoder
    try:
        with SubprocessEncoder(subprocess_encoders.{make}) as encoder:
            print(encoder.dimension, flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
""")
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, str(script)], stdout=pipe, stderr=pipe, start_new_session=True) as started:
        assert started.stdout is not None
        while not (line := started.stdout.readline()).startswith(until):
            assert line, "it ended before"
        whom(started.pid, int(line.split()[-1]))
        out, err = started.communicate(timeout=60)
    return out.splitlines(), err


def test_an_interrupt_while_it_is_imported_is_not_its_own(tmp_path: Path, pipe: Path) -> None:
    def interrupt(_: int, child: int) -> None:
        os.kill(child, signal.SIGINT)
        pipe.open("wb").close()

    out, err = interrupted(tmp_path, "HashedText", b"importing", interrupt, blocked=pipe)
    assert (out, err) == ([b"16"], b"")


def test_an_interrupt_ends_it_in_good_order_while_it_loads(tmp_path: Path) -> None:
    out, err = interrupted(tmp_path, "slow", b"loading", lambda parent, _: os.killpg(parent, signal.SIGINT))
    assert (out, err) == ([b"taken back", b"interrupted"], b"")
