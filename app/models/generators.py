"""Open the generator of a model name (PLUMBLINE_MODEL)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from app.errors import AppError
from app.models.cache import ModelCache, model_key, process_models
from app.models.known_tokenizers import check_tokenizer
from app.models.known_weights import known_weights
from app.models.shipped_decoder import DECODER, decoder_folder
from generation.causal.prompt_template import default_prompt, read_prompt
from generation.errors import GenerationError
from generation.generator import Generator
from model.checkpoints.files import sha256_of

if TYPE_CHECKING:
    from generation.reader.reader import EmbeddedReader
    from generation.remote.options import RemoteOptions

CHOICES = (
    "reader (the embedded one), smollm2 (fetched by plumbline model add smollm2), decoder (a small shipped "
    "one, to try the engine), a FOLDER (a reader you trained, or a Hugging Face decoder), a FILE.gguf, "
    "transformers:FOLDER, openai:URL#MODEL or openai-completions:URL#MODEL"
)
_APIS = {"openai": "chat", "openai-completions": "completions"}


@runtime_checkable
class SupportsClose(Protocol):
    """A generator with open connections."""

    def close(self) -> None:
        """Close the connections."""


def open_generator(
    choice: str,
    *,
    device: str = "cpu",
    api_key: str | None = None,
    context_length: int = 4096,
    parallel: int = 8,
    precision: str = "",
    home: Path | None = None,
    models: ModelCache | None = None,
    prompt: str = "",
) -> Generator:
    """Open a generator.

    choice: model name, one of CHOICES; "" for the embedded reader. "decoder" is the shipped one unless a folder has
    that name. A folder with reader.json is an embedded reader, one with config.json a Hugging Face decoder.
    api_key, context_length, parallel: key, context length in tokens and number of parallel requests of a server. No
    request is sent on opening.
    precision: precision of a decoder's weights (generation.engine.precision.weight_precision); "" for the default.
    home: data directory (home) with fetched models; by default that of the environment. If it is given, weight files
    that changed since they were last opened are refused (app.models.known_weights).
    models: cache of readers and decoders; by default that of the process.
    prompt: file of a prompt template (generation.causal.prompt_template); "" for the default.

    Raises AppError for an unknown choice and for options that the model does not support, and the errors of loading.
    """
    kind, separator, rest = choice.partition(":")
    if precision and not _is_decoder(choice, home):
        raise AppError(
            f"precision {precision} is for the folder of a Hugging Face decoder; {choice or 'the embedded reader'} has "
            "its own: leave the precision (PLUMBLINE_PRECISION) out",
            parameter="precision",
        )
    template = read_prompt(Path(prompt).expanduser()) if prompt else None
    if not choice or choice == "reader":
        _refuse_prompt(choice, prompt)
        return open_reader(None, device, models)
    if separator and kind in _APIS:
        options = _remote_options(kind, rest, api_key, context_length, parallel)
        from generation.remote.generator import OpenAIGenerator

        return OpenAIGenerator(options, template=template)
    if separator and kind == "transformers":
        folder = _folder(rest, choice, home)
        if (folder / "reader.json").is_file():
            raise AppError(
                f"the model {choice!r}: that folder is a reader, which transformers cannot load. Leave out "
                "transformers:",
                parameter="model",
            )
        from generation.causal.transformers_generator import TransformersGenerator

        check_tokenizer(folder, home)
        known = known_weights(home, folder)
        return TransformersGenerator(
            folder, device=device, template=template, weights_sha256=sha256_of if known is None else known.sha256_of
        )
    folder = _checkpoint(choice, home)
    if (folder / "reader.json").is_file():
        _refuse_prompt(choice, prompt)
        return open_reader(folder, device, models)
    from generation.causal.generator import CausalGenerator
    from generation.engine.precision import weight_precision
    from model.hardware.device import pick_device

    weights = weight_precision(precision, pick_device(device))
    known = known_weights(home, folder)

    def load() -> CausalGenerator:
        check_tokenizer(folder, home)
        hash_of = sha256_of if known is None else known.sha256_of
        return CausalGenerator(folder, device=device, precision=weights, template=template, weights_sha256=hash_of)

    key = model_key("decoder", folder, device, f"{weights!r} {template.sha256 if template else ''}".strip())
    return (process_models() if models is None else models).get(key, load)


def prompt_hash(generator: Generator, prompt: str) -> str:
    """Return the SHA-256 (hex) of the prompt template, or "" for an embedded reader. prompt: see ``open_generator``."""
    from generation.reader.reader import EmbeddedReader

    if isinstance(generator, EmbeddedReader):
        return ""
    return (read_prompt(Path(prompt).expanduser()) if prompt else default_prompt()).sha256


def open_reader(folder: Path | None, device: str, models: ModelCache | None = None) -> EmbeddedReader:
    """Load the embedded reader of a folder; None for the shipped one. Raises ModelError if this is impossible."""
    from generation.reader.reader import EmbeddedReader
    from model.checkpoints.shipped import shipped_reader

    key = model_key("reader", folder or shipped_reader(), device)
    return (process_models() if models is None else models).get(key, lambda: EmbeddedReader(folder, device=device))


def is_reader(choice: str, home: Path | None = None) -> bool:
    """Return whether ``open_generator`` opens an embedded reader for this choice. Opens nothing."""
    if choice in ("", "reader"):
        return True
    kind, separator, _ = choice.partition(":")
    if separator and (kind in _APIS or kind == "transformers"):
        return False
    return (decoder_folder(choice, home) / "reader.json").is_file()


def is_server(choice: str) -> bool:
    """Return whether ``open_generator`` opens the client of a server for this choice. Opens nothing."""
    kind, separator, _ = choice.partition(":")
    return bool(separator) and kind in _APIS


def absolute_choice(choice: str, home: Path | None = None) -> str:
    """Return the choice for a process with another working directory: folders and files get absolute paths.

    Models that ship with Plumbline keep their name. Raises AppError for a named model that was not fetched.
    """
    if choice in ("", "reader") or (choice == DECODER and not Path(choice).exists()):
        return choice
    kind, separator, rest = choice.partition(":")
    if separator and kind == "transformers":
        return f"transformers:{decoder_folder(rest, home).absolute()}"
    return str(decoder_folder(choice, home).absolute())


def _is_decoder(choice: str, home: Path | None) -> bool:
    folder = decoder_folder(choice, home)
    return bool(choice) and (folder.is_dir() or _is_gguf_file(folder)) and not (folder / "reader.json").is_file()


def _refuse_prompt(choice: str, prompt: str) -> None:
    if prompt:
        raise AppError(
            f"the prompt {prompt} needs a language model; {choice or 'the embedded reader'} takes none: leave "
            "the prompt (PLUMBLINE_PROMPT) out, or name a language model",
            parameter="prompt",
        )


def _checkpoint(choice: str, home: Path | None) -> Path:
    """Return the folder or GGUF file of a choice. Raises AppError if it does not exist."""
    path = decoder_folder(choice, home)
    if path.suffix.lower() == ".gguf" and not path.is_dir():
        if not path.is_file():
            raise AppError(f"the model {choice!r}: no such file", parameter="model")
        return path
    if path.is_file():
        raise AppError(f"the model {choice!r} is not a GGUF file (FILE.gguf); choose {CHOICES}", parameter="model")
    return _folder(choice, choice, home)


def _is_gguf_file(path: Path) -> bool:
    return path.suffix.lower() == ".gguf" and path.is_file()


def _folder(path: str, choice: str, home: Path | None) -> Path:
    folder = decoder_folder(path, home)
    if not path or not folder.is_dir():
        raise AppError(f"the model {choice!r}: no such folder; choose {CHOICES}", parameter="model")
    return folder


def _remote_options(kind: str, target: str, api_key: str | None, context_length: int, parallel: int) -> RemoteOptions:
    from generation.remote.options import RemoteOptions

    url, _, model = target.partition("#")
    try:
        return RemoteOptions(
            url,
            model,
            "chat" if _APIS[kind] == "chat" else "completions",
            api_key=api_key or None,
            context_length=context_length,
            parallel=parallel,
        )
    except GenerationError as error:
        # The message leaves out the choice, because its URL may contain a password.
        raise AppError(f"the model {kind}:URL#MODEL: {error}. The choices are {CHOICES}", parameter="model") from error
