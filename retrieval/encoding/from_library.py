"""Open any sentence-transformers model with the library of that name."""

from __future__ import annotations

import hashlib
import importlib
import json
from typing import Any

from retrieval.chunking.token_counting import TokenizerCounter
from retrieval.encoding.library_pass import LibraryPass
from retrieval.encoding.opened_encoder import OpenedEncoder
from retrieval.encoding.text_kinds import EncodingPass
from retrieval.errors import RetrievalError


def open_from_library(name: str, device: str, batch_size: int, *, local: bool, bf16: bool) -> OpenedEncoder:
    """Open a model with the library.

    name: a folder if ``local``, otherwise a hub ID that may be downloaded. batch_size: number of texts in a forward
    pass of the library. bf16: whether bf16 passages will be requested. Raises RetrievalError if the library cannot load
    the model, or if the model has no tokenizer.json to count tokens with.
    """
    model = _load(name, device, local)
    counter = _counter(model, name)
    return OpenedEncoder(
        counter,
        int(model.get_embedding_dimension()),
        int(model.max_seq_length),
        _fingerprint(model, counter),
        _pass(model, device, batch_size, bf16),
    )


def _load(name: str, device: str, local: bool) -> Any:
    library = importlib.import_module("sentence_transformers")
    logging = importlib.import_module("transformers.utils.logging")
    bar = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        return library.SentenceTransformer(
            name,
            device=device,
            trust_remote_code=False,
            local_files_only=local,
            model_kwargs={"use_safetensors": True},
        )
    except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
        raise RetrievalError(f"the encoder {name!r} cannot be loaded: {error}") from error
    finally:
        if bar:
            logging.enable_progress_bar()


def _pass(model: Any, device: str, batch_size: int, bf16: bool) -> EncodingPass:
    if device == "cpu":
        # Imported here because it imports torch, which is slow.
        from retrieval.encoding.bert_pass import bert_pass

        own = bert_pass(model, bf16)
        if own is not None:
            return own
    return LibraryPass(model, batch_size)


def _counter(model: Any, name: str) -> TokenizerCounter:
    """Return a token counter based on a copy of the model's tokenizer that neither truncates nor pads."""
    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise RetrievalError(f"the encoder {name!r} has no tokenizer.json, so its tokens cannot be counted; add one")
    return TokenizerCounter(backend.to_str())


def _fingerprint(model: Any, counter: TokenizerCounter) -> str:
    digest = hashlib.sha256()
    for key, tensor in sorted(model.state_dict().items()):
        digest.update(f"{key}:{tensor.dtype}:{tuple(tensor.shape)};".encode())
        # Converted through bytes, because numpy has no bfloat16. On the CPU this copies nothing.
        digest.update(memoryview(tensor.detach().cpu().contiguous().flatten().view(_bytes()).numpy()))
    # The transformer's own configuration is omitted, because new versions of the library add keys to it.
    modules = [(type(m).__name__, m.get_config_dict() if i else None) for i, m in enumerate(model)]
    rest = {
        "modules": modules,
        "max_tokens": int(model.max_seq_length),
        "prompts": model.prompts,
        "default_prompt": model.default_prompt_name,
        "tokenizer": hashlib.sha256(counter.definition.encode()).hexdigest(),
    }
    digest.update(json.dumps(rest, sort_keys=True, ensure_ascii=True, default=str).encode())
    return digest.hexdigest()


def _bytes() -> Any:
    return importlib.import_module("torch").uint8
