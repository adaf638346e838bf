"""Fixtures of a small real installation: three documents, MiniLM and an untrained reader."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from app.cli import main
from app.models.encoders import open_encoder
from app.pipeline import Pipeline
from app.service.application import create_app
from app.settings import Settings
from data.documents import Document
from generation.completion import Citation, Completion, Usage
from generation.decoding.params import SamplingParams
from generation.errors import ContextLengthError
from generation.prompt import Prompt, PromptChunk
from model.reader.prefix_decoder import save_prefix_decoder, warm_start
from retrieval.chunking.chunks import RetrievedChunk
from retrieval.encoding.encoder import Encoder
from tests.databases import copy_rows, new_database, postgresql_server

NOTES = (
    Document("warranty", "Warranty", "The warranty of the Heron 4 lasts for three years. Batteries are not covered."),
    Document("office", "Office", "The office in Lisbon opens at nine. Its door code is changed every month."),
    Document("markup", "<b>Markup</b>", "The <script>alert(1)</script> tag & friends are quoted on page 7."),
)


class FirstWords:
    """A generator that answers with the first three words of the first chunk and cites it.

    ``started`` is set when it is called. It waits until ``released`` is set. It raises ``fails``, if that is given.
    """

    name = "first-words"
    fingerprint = "0" * 64
    context_length = 512

    def __init__(self, fails: Exception | None = None) -> None:
        self.started = Event()
        self.released = Event()
        self.released.set()
        self.fails = fails

    def prompt(self, question: str, chunks: Sequence[RetrievedChunk], max_new_tokens: int) -> Prompt:
        words = len(question.split())
        if words > self.context_length - max_new_tokens:
            raise ContextLengthError(f"the question has {words} tokens: shorten it")
        shown = tuple(PromptChunk(n, c, 0, len(c.chunk.text)) for n, c in enumerate(chunks[:2], start=1))
        return Prompt(question, shown, tuple(chunks[2:]), (101,) * words)

    def generate(self, prompt: Prompt, params: SamplingParams, seeds: Sequence[int]) -> tuple[Completion, ...]:
        self.started.set()
        if not self.released.wait(timeout=240):
            raise AssertionError("nobody released the generator")
        if self.fails is not None:
            raise self.fails
        answer = " ".join(prompt.chunks[0].text.split()[:3]) if prompt.chunks else "I do not know."
        cited = (Citation(1, len(answer) + 1, len(answer) + 4),) if prompt.chunks else ()
        text = f"{answer} [1]" if cited else answer
        usage = Usage(len(prompt.token_ids), 1)
        return tuple(Completion(text, (7,), (-0.5,), "stop", usage, seed, cited) for seed in seeds)


@pytest.fixture(scope="session")
def opened_encoder() -> Encoder:
    """MiniLM, open in this process, so that index commands start no process for it."""
    return open_encoder("", "cpu", Settings(device="cpu").encoder_precision)


@pytest.fixture(scope="session")
def reader_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an untrained reader, which has real size and speed but gives meaningless answers."""
    folder = tmp_path_factory.mktemp("models") / "reader"
    save_prefix_decoder(warm_start(0), folder, {})
    return folder


@pytest.fixture(scope="session")
def make_settings(reader_folder: Path) -> Iterator[Callable[..., Settings]]:
    """Function that makes settings independent of the environment.

    If tests run on a PostgreSQL server, a home gets a database there with the rows of its SQLite file.
    """
    databases: dict[Path, str] = {}
    with ExitStack() as stack:

        def database_of(home: Path) -> str:
            if postgresql_server() and home not in databases:
                databases[home] = stack.enter_context(new_database(postgresql_server()))
                if (home / "plumbline.db").exists():
                    copy_rows(home / "plumbline.db", databases[home])
            return databases.get(home, "")

        def settings(home: Path, **fields: object) -> Settings:
            values = {"encoder": "", "model": str(reader_folder), "device": "cpu", **fields}
            return Settings(home=home, **({"database": database_of(home)} | values))  # type: ignore[arg-type]

        yield settings


@pytest.fixture(scope="session")
def small_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose collection "notes" holds NOTES, with an SQLite database. Tests must not change it; see home_copy."""
    home = tmp_path_factory.mktemp("small") / "home"
    with Pipeline(Settings(home=home, database="", encoder="", device="cpu")) as pipeline:
        pipeline.index("notes", NOTES)
    return home


@pytest.fixture(scope="session")
def small_settings(small_home: Path, make_settings: Callable[..., Settings]) -> Settings:
    """Settings of small_home with the untrained reader."""
    return make_settings(small_home)


@pytest.fixture(scope="session")
def small_pipeline(small_settings: Settings) -> Iterator[Pipeline]:
    """A pipeline on small_home, whose models are loaded once per session."""
    with Pipeline(small_settings) as pipeline:
        yield pipeline


@pytest.fixture
def home_copy(small_home: Path, tmp_path: Path) -> Path:
    """A copy of small_home that a test may change."""
    return Path(shutil.copytree(small_home, tmp_path / "home"))


@pytest.fixture
def make_pipeline(small_pipeline: Pipeline) -> Iterator[Callable[..., Pipeline]]:
    """Function that makes a pipeline with the session's encoder (loading takes a second) and any generator."""
    opened: list[Pipeline] = []

    def pipeline(settings: Settings, generator: object | None = None) -> Pipeline:
        made = Pipeline(settings)
        opened.append(made)
        made.__dict__["encoder"] = small_pipeline.encoder  # where cached_property keeps it
        made.__dict__["generator"] = generator or small_pipeline.generator
        return made

    yield pipeline
    for made in opened:
        made.close()


@pytest.fixture
def first_words() -> type[FirstWords]:
    """The class FirstWords, as a fixture because a conftest cannot be imported."""
    return FirstWords


@pytest.fixture
def pipeline(
    make_pipeline: Callable[..., Pipeline],
    make_settings: Callable[..., Settings],
    home_copy: Path,
    first_words: type[FirstWords],
) -> Pipeline:
    """A pipeline on its own home that answers immediately. Test files may override it."""
    return make_pipeline(make_settings(home_copy), first_words())


@pytest.fixture
def client(pipeline: Pipeline) -> Iterator[TestClient]:
    """Client of a service on ``pipeline``."""
    with TestClient(create_app(pipeline)) as opened:
        yield opened


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str], opened_encoder: Encoder) -> Callable[..., SimpleNamespace]:
    """Function that runs a command line and returns exit code, stdout, and stderr on one line."""

    def run(*words: object) -> SimpleNamespace:
        capsys.readouterr()
        try:
            code = main([*map(str, words)])
        except SystemExit as error:  # raised by argparse
            code = int(error.code or 0)
        captured = capsys.readouterr()
        return SimpleNamespace(code=code, out=captured.out, err=" ".join(captured.err.split()))

    return run
