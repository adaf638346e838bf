"""Build a tokenised corpus from documents: hold some out, train a tokenizer on the others, and write token files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from app.errors import AppError
from data.documents import Document
from data.errors import DataError
from data.folders import find_files
from data.loaders import load_documents
from data.refused import Refused
from model.checkpoints.files import sha256_of, write_atomic
from model.errors import ModelError
from model.training.bpe import END_ID, BpeEncoder, train_bpe
from model.training.pretrain_corpus import CorpusFacts, CorpusWriter, open_corpus

_FEW = 50
_EVERY = 6
_AT_ONCE = 64
_FORMAT = 1  # version of the extracted text, of the split and of the token streams
TOKENIZER = "tokenizer.json"


@dataclass(frozen=True, slots=True)
class CorpusRecipe:
    """Settings of a corpus.

    paths: files and folders of documents, as for ``plumbline index``. vocabulary: maximum number of tokens of the
    trained tokenizer. limit: maximum number of documents, from the first one. hold_out: percentage of documents that
    are excluded from training. skip_bad: whether to skip invalid items. tokenizer: file of an existing tokenizer; None
    trains one. shard_bytes: maximum size of a token file in bytes.
    """

    paths: tuple[Path, ...]
    vocabulary: int
    limit: int | None = None
    hold_out: int = 4
    skip_bad: bool = False
    tokenizer: Path | None = None
    shard_bytes: int = 64_000_000


@dataclass(frozen=True, slots=True)
class PreparedCorpus:
    """A finished corpus.

    folder: folder with tokenizer.json, the shards and corpus.json. facts: content of corpus.json.
    """

    folder: Path
    facts: CorpusFacts


def single_corpus(parent: Path) -> PreparedCorpus:
    """Return the only finished corpus below ``parent``. Raises AppError if there is none or more than one."""
    folders = sorted(path.parent for path in parent.glob("*/corpus.json"))
    if len(folders) != 1:
        raise AppError(f"{parent} holds {len(folders)} finished corpora, but one is needed: name the text with --data")
    facts = open_corpus(folders[0])
    if facts is None:
        raise AppError(f"{folders[0]}/corpus.json cannot be read: copy it again, or tokenise again with --data")
    return PreparedCorpus(folders[0], facts)


def prepare_corpus(
    recipe: CorpusRecipe,
    parent: Path,
    *,
    notify: Callable[[str], None],
    progress: Callable[[int], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> PreparedCorpus | None:
    """Return the tokenised corpus of a recipe. It is built, or an interrupted build is resumed, if it is missing.

    parent: folder for corpora; the corpus is a subfolder named by a hash of its content. say: called with messages.
    progress: called with the number of documents so far. stop: polled between documents; if it returns True, the
    finished work is kept and None is returned.

    Raises DataError for a missing path, for an invalid item unless ``skip_bad``, and if there is no document to train
    on. Raises ModelError for a full disk or a damaged shard.
    """
    identity = _identity(recipe)
    folder = parent / hashlib.sha256(identity.encode()).hexdigest()[:16]
    facts = open_corpus(folder)
    if facts is not None:
        return PreparedCorpus(folder, facts)
    held_out = _held_out(recipe)
    tokenizer = folder / TOKENIZER
    if not tokenizer.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        if recipe.tokenizer is not None:
            content = recipe.tokenizer.read_bytes()
        else:
            notify(f"training a tokenizer with at most {recipe.vocabulary:,} tokens")
            source = _Source(recipe)
            # Held-out text must not influence the tokenizer, because it is used to evaluate the model.
            content = train_bpe((_text(d) for d in source if not held_out(d)), recipe.vocabulary)
        write_atomic(tokenizer, content)
    encoder = BpeEncoder(tokenizer)
    writer = CorpusWriter(folder, identity, end_id=END_ID, shard_bytes=recipe.shard_bytes)
    if writer.documents:
        notify(f"continuing after {writer.documents:,} documents tokenised before")
    source = _Source(recipe)
    rest = islice(iter(source), writer.documents, None)
    while batch := list(islice(rest, _AT_ONCE)):
        for document, ids in zip(batch, encoder.encode_many([_text(d) for d in batch]), strict=True):
            writer.add(ids, held_out=held_out(document))
        if progress is not None:
            progress(writer.documents)
        if stop():
            writer.flush()
            return None
    if not writer.documents:
        raise DataError(f"no document in {', '.join(map(str, recipe.paths))}: nothing to train on")
    return PreparedCorpus(folder, writer.finish(tuple(map(str, source.skipped))))


class _Source:
    """An iterable over the documents of a recipe, in order. After iteration, ``skipped`` lists the refused items."""

    def __init__(self, recipe: CorpusRecipe) -> None:
        self._recipe = recipe
        self.skipped: list[Refused] = []

    def __iter__(self) -> Iterator[Document]:
        self.skipped.clear()
        good = 0
        for item in load_documents(self._recipe.paths):
            if isinstance(item, Refused):
                if not self._recipe.skip_bad:
                    raise DataError(f"{item}; fix it or skip such items with --skip-bad")
                self.skipped.append(item)
                continue
            yield item
            good += 1
            if good == self._recipe.limit:
                return


def _held_out(recipe: CorpusRecipe) -> Callable[[Document], bool]:
    """Return a function that says whether a document is held out.

    It depends only on the SHA-256 of the document's name, so it is the same on every machine and for every subset. If
    there are fewer than _FEW documents, every sixth one by name is held out instead, because the share might be empty.
    A single document is not held out.
    """
    if recipe.hold_out == 0:
        return lambda document: False
    names = sorted(_name(document) for document in islice(_Source(recipe), _FEW))
    if len(names) < _FEW:
        chosen = frozenset(names[::_EVERY]) if len(names) > 1 else frozenset()
        return lambda document: _name(document) in chosen
    percent = recipe.hold_out
    return lambda document: int(hashlib.sha256(_name(document).encode()).hexdigest(), 16) % 100 < percent


def _name(document: Document) -> str:
    """Return the name that determines the split: the title, because all parts of an article must be on one side."""
    return document.title or document.id


def _text(document: Document) -> str:
    return f"{document.title}\n\n{document.text}" if document.title else document.text


def _identity(recipe: CorpusRecipe) -> str:
    """Return JSON of everything that determines the corpus: hashes of the files, and how they are read and tokenised.

    Raises DataError for files that are missing or cannot be read, ModelError for the tokenizer.
    """
    files: list[tuple[str, str]] = []
    missing = [path for path in recipe.paths if not path.exists()]
    if missing:
        raise DataError(f"{missing[0]} does not exist: give folders of text or JSONL files of documents")
    for found in find_files(recipe.paths):
        if not isinstance(found, Refused):
            try:
                files.append((found.inside, sha256_of(found.path)))
            except OSError as error:
                raise DataError(f"{found.path} cannot be read: {error.strerror}") from error
    if recipe.tokenizer is not None:
        try:
            tokenizer: object = sha256_of(recipe.tokenizer)
        except OSError as error:
            raise ModelError(f"{recipe.tokenizer} cannot be read: {error.strerror}; give a tokenizer.json") from error
    else:
        tokenizer = recipe.vocabulary
    fields = {
        "format": _FORMAT,
        "limit": recipe.limit,
        "hold_out": recipe.hold_out,
        "tokenizer": tokenizer,
        "files": files,
    }
    return json.dumps(fields, sort_keys=True)


def facts_json(facts: CorpusFacts) -> dict[str, object]:
    """Return the facts about a corpus for training.json, without its list of files."""
    fields = asdict(facts)
    kept: Sequence[str] = ("documents", "validation_documents")
    return {
        **{name: fields[name] for name in kept},
        "skipped": len(facts.skipped),
        "tokens": facts.tokens("train"),
        "validation_tokens": facts.tokens("validation"),
        "sha256": hashlib.sha256("".join(shard.sha256 for shard in facts.shards).encode()).hexdigest(),
    }
