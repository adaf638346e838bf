"""The pipeline: store, encoder, retriever and generator for one set of settings, each opened on first use."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from time import perf_counter
from types import TracebackType

from app.answering.answer_parts import SearchRecord, Timings
from app.answering.streamed_answer import OnText, generate_streamed
from app.answers import QueryRequest, QueryResult, query_request, query_result
from app.errors import UnnamedCollectionError
from app.home.permissions import open_private_home
from app.models.cache import ModelCache, process_models
from app.models.encoders import encoder_key, open_encoder
from app.models.generators import SupportsClose, open_generator
from app.query_store import store_queries
from app.retrieval.chunk_locations import chunk_locations
from app.retrieval.engine_settings import engines_of
from app.settings import Settings
from data.block_work import BlockExecutor
from data.documents import Document
from data.questions import Question
from data.refused import Refused
from data.store import Store
from evaluation.runs.seeds import derive_seed
from generation.completion import Completion
from generation.generator import Generator
from generation.prompt import Prompt
from generation.style.restyling import apply_style
from retrieval.chunking.chunker import ChunkingParams
from retrieval.collections import check_published, list_collections, open_retriever
from retrieval.encoding.distributed_encoder import DistributedEncoder
from retrieval.encoding.encoder import Encoder
from retrieval.encoding.subprocess_encoder import SubprocessEncoder
from retrieval.engines.engines import Engines
from retrieval.engines.record import EngineName
from retrieval.generations.index_params import IndexParams
from retrieval.generations.publishing import current_generation
from retrieval.indexing.index_target import IndexTarget
from retrieval.indexing.indexer import JobParams, index_documents
from retrieval.indexing.report import IndexProgress, IndexReport
from retrieval.retriever import Fusion, Mode, Retriever
from retrieval.saved_search import search_params
from retrieval.search import Search
from retrieval.sparse.tokenising import TokenisingParams
from retrieval.vectors.params import DenseParams


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A request with its prompt.

    collection, search: None without retrieval.
    locations: chunk ID -> location of the chunk as text.
    retrieval_s: duration of the retrieval, in seconds.
    """

    request: QueryRequest
    collection: str | None
    search: Search | None
    prompt: Prompt
    locations: Mapping[str, str]
    retrieval_s: float


class Pipeline:
    """Indexes documents and answers questions from them. Thread-safe. Close it after use."""

    def __init__(self, settings: Settings, models: ModelCache | None = None) -> None:
        """Create a pipeline. models: cache of opened models; by default shared by all pipelines of this process."""
        self.settings = settings
        self.models = process_models() if models is None else models
        self._closing = ExitStack()
        self._retrievers: dict[str, Retriever] = {}
        self._lock = threading.RLock()
        self._generating = threading.Lock()

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database, the index engines and the model."""
        self._closing.close()

    @property
    def home(self) -> Path:
        """The data directory (home), an absolute path."""
        return self.settings.home_folder

    @cached_property
    def store(self) -> Store:
        """The SQL store, opened on first use. Access to the home folder is restricted to its owner before."""
        open_private_home(self.home)
        return self._closing.enter_context(Store.open(self.settings.database_url))

    @cached_property
    def engines(self) -> Engines:
        """The engines that hold indexes outside the home. They connect on first use."""
        return self._closing.enter_context(engines_of(self.settings))

    @cached_property
    def device(self) -> str:
        """The device on which models run."""
        # The import loads torch, which an index job needs only in its encoder process.
        from model.hardware.device import pick_device

        return str(pick_device(self.settings.device))

    @cached_property
    def encoder(self) -> Encoder:
        """The configured encoder; by default the packaged MiniLM."""
        settings = self.settings
        return open_encoder(
            settings.encoder, settings.device, settings.encoder_precision, self.models, settings.home_folder
        )

    @cached_property
    def subprocess_encoder(self) -> Encoder:
        """The encoder in a subprocess, whose memory is free again after embedding.

        This is ``encoder`` if that is already open in this process. The child process starts on first use and ends
        with its method ``rest`` or with this pipeline.
        """
        settings = self.settings
        key = encoder_key(settings.encoder, settings.device, settings.encoder_precision)
        if "encoder" in self.__dict__ or (key is not None and key in self.models):
            return self.encoder
        make = partial(
            open_encoder, settings.encoder, settings.device, settings.encoder_precision, home=settings.home_folder
        )
        return self._closing.enter_context(SubprocessEncoder(make))

    def encoder_on(self, executor: BlockExecutor) -> DistributedEncoder:
        """Return the configured encoder, distributed over the workers of an executor. They start on first use."""
        settings = self.settings
        name = str(Path(settings.encoder).absolute()) if Path(settings.encoder).is_dir() else settings.encoder
        device, precision = settings.device, settings.encoder_precision
        return DistributedEncoder(executor, partial(open_encoder, name if settings.encoder else "", device, precision))

    @cached_property
    def generator(self) -> Generator:
        """The configured model, by default the embedded reader (see app.models.generators)."""
        settings = self.settings
        opened = open_generator(
            settings.model,
            device=self.device,
            api_key=settings.model_key.get_secret_value(),
            context_length=settings.model_context,
            parallel=settings.model_parallel,
            precision=settings.precision,
            home=self.home,
            models=self.models,
            prompt=settings.prompt,
        )
        if isinstance(opened, SupportsClose):
            self._closing.callback(opened.close)
        return opened

    def index(
        self,
        collection: str,
        source: Iterable[Document | Refused],
        *,
        chunking: ChunkingParams | None = None,
        tokenising: TokenisingParams | None = None,
        dense: DenseParams | None = None,
        job: JobParams | None = None,
        progress: Callable[[IndexProgress], None] | None = None,
        in_subprocess: bool = False,
        vectors: EngineName | None = None,
        executor: BlockExecutor | None = None,
    ) -> IndexReport:
        """Update a collection to hold exactly the source's documents (see retrieval.indexing.indexer.index_documents).

        in_subprocess: embed in a child process, which ends before the indexes are built. For callers that use the
        encoder for nothing else. executor: embed in its workers instead of in this process.
        vectors: engine of the indexes; None for that of the collection, or the setting ``vectors`` for a new one.
        """
        encoder = self.encoder_on(executor) if executor else self.subprocess_encoder if in_subprocess else self.encoder
        return index_documents(
            self.store,
            self.home,
            collection,
            source,
            encoder,
            params=IndexParams.for_new_index(chunking, tokenising, dense=dense),
            job=job,
            target=IndexTarget(vectors or self._engine_of_new(collection), self.engines),
            progress=progress,
        )

    def _engine_of_new(self, collection: str) -> EngineName | None:
        """Return the setting ``vectors`` for a collection without a published index; None for other collections."""
        if not self.settings.vectors:
            return None
        with self.store.read() as connection:
            published = current_generation(connection, collection)
        return self.settings.vectors if published is None else None

    def collection_name(self, name: str | None) -> str:
        """Return the given name, or the name of the only collection if ``name`` is None.

        Opens no model and no index file. Raises RetrievalError if the collection is not published, and
        UnnamedCollectionError if no name is given and there is not exactly one collection.
        """
        if name is not None:
            check_published(self.store, name)
            return name
        known = [info.name for info in list_collections(self.store)]
        if len(known) == 1:
            return known[0]
        if not known:
            raise UnnamedCollectionError(f"there is no collection in {self.home}: index documents first", known)
        raise UnnamedCollectionError(f"there are several collections: name one of {', '.join(known)}", known)

    def retriever(self, name: str) -> Retriever:
        """Return the retriever of a collection's published generation, reopened if a newer one was published."""
        with self._lock:
            cached = self._retrievers.get(name)
            if cached is None or not cached.is_current():
                check_published(self.store, name)  # Before the encoder is loaded.
                cached = open_retriever(self.store, self.home, name, self.encoder, self.engines)
                self._retrievers[name] = cached
            return cached

    def search(self, name: str, mode: Mode | None = None, fusion: Fusion | None = None) -> Search:
        """Return the search settings of a collection: those saved by ``tune``, else the defaults, overridden by the
        given values.

        Raises the errors of ``retriever``, and RetrievalError for saved settings that cannot be read.
        """
        retriever = self.retriever(name)
        return Search(retriever, search_params(self.home, name, mode=mode, fusion=fusion))

    def answer(
        self,
        question: QueryRequest | Question | str,
        *,
        collection: str | None = None,
        on_text: OnText | None = None,
    ) -> QueryResult:
        """Retrieve, generate, and store the query.

        question: a text, a Question, or a QueryRequest with all options.
        collection: overrides the request's; None uses it, or the only collection.
        on_text: called with text as it is generated, if the model streams and the style is "short".

        Raises AppError, RetrievalError or GenerationError if the request cannot be answered.
        """
        request = query_request(question, collection)
        streaming = on_text if request.style == "short" else None  # Other styles need the complete answer.
        result = self.draw(self.prepare(request), streaming)
        self.keep([result], [result.collection])
        return result

    def prepare(self, request: QueryRequest) -> PreparedQuery:
        """Retrieve and build the prompt. Raises the errors of ``answer``."""
        started = perf_counter()
        name = self.collection_name(request.collection) if request.retrieval else None
        generator = self.generator
        search = None if name is None else self.search(name, request.mode, request.fusion)
        chunks = () if search is None else search.retrieve(request.question, request.k)
        locations = {} if name is None else chunk_locations(self.store, name, [result.chunk for result in chunks])
        seconds = perf_counter() - started
        prompt = generator.prompt(request.question, chunks, request.params.max_tokens)
        return PreparedQuery(request, name, search, prompt, locations, seconds)

    def draw(self, prepared: PreparedQuery, on_text: OnText | None = None) -> QueryResult:
        """Generate the answers without storing the query. on_text: see ``answer``. Raises the errors of ``answer``."""
        request, search = prepared.request, prepared.search
        started = perf_counter()
        seeds = [query_seed(request.params.seed, sample) for sample in range(request.params.n)]
        with self._generating:  # One request at a time. Only the service's engine batches requests.
            completions = generate_streamed(self.generator, prepared.prompt, request.params, seeds, on_text)
        searched = SearchRecord()
        if search is not None:
            settings = (search.retriever.generation_hash, search.settings)
            searched = SearchRecord(prepared.collection, *settings, prepared.locations)
        timings = Timings(prepared.retrieval_s, perf_counter() - started)
        return query_result(
            uuid.uuid4().hex, request, prepared.prompt, completions, searched, timings, model=self.generator.name
        )

    def complete(self, request: QueryRequest, prompt: Prompt, seeds: Sequence[int]) -> tuple[Completion, ...]:
        """Return one completion per seed, in the request's style. Raises GenerationError."""
        with self._generating:
            drawn = self.generator.generate(prompt, request.params, seeds)
            return tuple(apply_style(completion, request.question, request.style) for completion in drawn)

    def keep(self, results: Sequence[QueryResult], stored: Sequence[str | None]) -> None:
        """Store queries and their answers in one transaction. Raises DataError if the database fails.

        stored: for each query, the stored name of the collection that was searched; None without retrieval.
        """
        store_queries(self.store, results, stored)


def query_seed(seed: int, sample: int) -> int:
    """Return the seed of one sample: the request's seed for the first sample, derived seeds for the others."""
    return seed if sample == 0 else derive_seed(seed, "", "query", "", sample)
