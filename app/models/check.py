"""Check that a checkpoint is complete, supported and computed correctly. Implements ``plumbline model check``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from app.errors import UsageError
from app.models.known_tokenizers import check_tokenizer
from app.models.known_weights import known_weights
from generation.causal.chat_format import chat_frame, chat_template
from generation.errors import GenerationError
from model.checkpoints.end_tokens import eos_token_ids
from model.checkpoints.facts import DecoderFacts, decoder_facts
from model.checkpoints.files import sha256_of
from model.checkpoints.loading import load_decoder
from model.checkpoints.self_check import (
    Comparison,
    SplitDifferences,
    compare,
    our_run,
    reference_run,
    split_differences,
    tolerance,
)
from model.checkpoints.source import open_checkpoint
from model.checkpoints.tokenizer import Tokenizer
from model.errors import ModelError
from model.reader.prefix_decoder import CONFIG as READER
from model.reader.prefix_decoder import ReaderUse
from model.verifier.files import CONFIG as VERIFIER

_UNCACHED = "one plain pass"
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_PROMPT_TOKENS, _GREEDY_TOKENS = 24, 16
# The prompt of the check is longer than sliding windows up to this length. A longer prompt would be slow.
_LONGEST_WINDOW = 256


@dataclass(frozen=True, slots=True)
class ModelCheckRequest:
    """The checkpoint to check, and how to compute it.

    folder: folder or GGUF file of the checkpoint. dtype: one of DTYPES. home: data directory (home) that records the
    SHA-256 of weight files; None records nothing. accept: whether to record weight files that changed since they were
    last opened. Raises UsageError for an unknown dtype.
    """

    folder: Path
    device: str = "cpu"
    dtype: str = "float32"
    home: Path | None = None
    accept: bool = False

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise UsageError(f"--dtype {self.dtype}: one of {', '.join(DTYPES)}")


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The result of a check.

    weights: name and SHA-256 of each weight file. problems: reasons why the checkpoint must not be used; empty if it
    passes. facts: description of the decoder. end_tokens: ID and text of each end token. prompt_tokens: length of the
    prompt of the comparisons. split: comparison of several ways to compute the logits. reference: comparison with
    another implementation. compared_with: name of that implementation. use: how the probabilities of a reader are used;
    None for other models. Fields are None if the check stopped before they were computed.
    """

    folder: str
    device: str
    dtype: str
    weights: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()
    facts: DecoderFacts | None = None
    end_tokens: tuple[tuple[int, str], ...] = ()
    tokenizer_size: int | None = None
    chat_template: bool | None = None
    prompt_tokens: int | None = None
    split: SplitDifferences | None = None
    reference: Comparison | None = None
    compared_with: str = "transformers"
    use: ReaderUse | None = None

    @property
    def passed(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    def to_json(self) -> dict[str, object]:
        """Return the result as JSON values."""
        return {**asdict(self), "passed": self.passed}


def check_model(request: ModelCheckRequest, watch: Callable[[str], None] | None = None) -> ModelCheck:
    """Load a checkpoint, compare several ways of computing it, and compare it with transformers.

    watch: called with the name of each step. Problems of the checkpoint do not raise errors; they are returned in
    ``problems``.
    """
    notify = watch or (lambda _: None)
    result = ModelCheck(str(request.folder), request.device, request.dtype)
    try:
        if (request.folder / READER).is_file():
            return _of_reader(result, request, notify)
        if (request.folder / VERIFIER).is_file():
            raise ModelError(
                f"{request.folder} holds a verifier, not a decoder: evaluate it with plumbline model eval "
                f"{request.folder} --data FILE"
            )
        facts = decoder_facts(open_checkpoint(request.folder))
        result = replace(result, facts=facts, weights=_weights(request, notify))
        check_tokenizer(request.folder, request.home)
        result = _with_text(result, request.folder, facts.vocabulary)
        return _computed(result, request, facts, notify)
    except (ModelError, GenerationError) as error:
        return replace(result, problems=(*result.problems, str(error)))


def _weights(request: ModelCheckRequest, notify: Callable[[str], None]) -> tuple[tuple[str, str], ...]:
    """Return name and SHA-256 of each weight file. Raises ModelError for a changed file that was not accepted."""
    known = known_weights(request.home, request.folder)
    if known is not None and request.accept:
        notify(f"accepted in its current state: {', '.join(str(file) for file in known.accept(request.folder))}")
    hash_of = sha256_of if known is None else known.sha256_of
    return tuple((file.name, hash_of(file)) for file in open_checkpoint(request.folder).files)


def _of_reader(result: ModelCheck, request: ModelCheckRequest, notify: Callable[[str], None]) -> ModelCheck:
    """Check an embedded reader. It has no other implementation, so it is compared with a pass without a cache."""
    from app.models.reader_check import inspect_reader

    if request.dtype != "float32":
        raise ModelError(f"--dtype {request.dtype}: a reader is computed in float32 only")
    found = inspect_reader(request.folder, request.device, notify)
    result = replace(
        result,
        facts=found.facts,
        use=found.use,
        prompt_tokens=found.prompt_tokens,
        split=found.split,
        reference=found.engine,
        compared_with=_UNCACHED,
    )
    problems = (*_split_problems(found.split, found.allowed), *_reference_problems(found.engine, _UNCACHED))
    return replace(result, problems=problems)


def _with_text(result: ModelCheck, folder: Path, vocabulary: int) -> ModelCheck:
    """Add the results of checking the tokenizer, the end tokens and the chat template."""
    tokenizer = Tokenizer.from_checkpoint(folder)
    problems = []
    if tokenizer.size > vocabulary:
        problems.append(
            f"{folder}: the tokenizer has {tokenizer.size} tokens, the embedding only {vocabulary}: they do "
            "not belong together"
        )
    ends = eos_token_ids(folder)
    problems += [
        f"{folder}: end token {end} is outside of the vocabulary of {vocabulary}: the model can never end with it"
        for end in ends
        if end >= vocabulary
    ]
    template = chat_template(folder) is not None
    chat_frame(folder)
    return replace(
        result,
        tokenizer_size=tokenizer.size,
        end_tokens=tuple((end, tokenizer.token(end)) for end in ends),
        chat_template=template,
        problems=tuple(problems),
    )


def _computed(
    result: ModelCheck, request: ModelCheckRequest, facts: DecoderFacts, notify: Callable[[str], None]
) -> ModelCheck:
    dtype = DTYPES[request.dtype]
    prompt = _prompt(facts).to(request.device)
    steps = min(_GREEDY_TOKENS, facts.context_length - prompt.shape[1])
    notify("loading the checkpoint")
    model = load_decoder(request.folder, dtype=dtype, device=request.device)
    notify("computing it in several ways")
    ours = our_run(model, prompt, steps)
    if not bool(torch.isfinite(ours.logits).all()):
        raise ModelError(
            f"{request.folder}: the weights are finite, but the logits computed in {request.dtype} are not: "
            + ("the weights are damaged" if dtype == torch.float32 else "use a dtype with a wider range")
        )
    split = split_differences(model, prompt, ours.logits)
    del model  # before the reference is loaded: a large model fits into memory once, not twice
    allowed = tolerance(dtype, ours.logits)
    result = replace(result, prompt_tokens=prompt.shape[1], split=split)
    result = replace(result, problems=(*result.problems, *_split_problems(split, allowed)))
    notify("computing it with transformers")
    reference = reference_run(request.folder, prompt, steps, dtype=dtype, device=request.device)
    found = compare(ours, reference, allowed)
    return replace(
        result, reference=found, problems=(*result.problems, *_reference_problems(found, result.compared_with))
    )


def _prompt(facts: DecoderFacts) -> torch.Tensor:
    """Return random token IDs from a fixed seed, of shape (1, T). The check compares arithmetic, so any tokens work."""
    length = _PROMPT_TOKENS
    if facts.window is not None and facts.window <= _LONGEST_WINDOW:
        length = max(length, facts.window + 8)
    # Room for some greedy tokens, and for the padding of the padded pass.
    length = max(1, min(length, facts.context_length - 3, facts.context_length * 3 // 4))
    return torch.randint(0, facts.vocabulary, (1, length), generator=torch.Generator().manual_seed(1))


def _split_problems(split: SplitDifferences, allowed: float) -> list[str]:
    ways = (
        ("token by token on the cache", split.cached),
        ("with the prompt in chunks", split.chunked),
        ("in a padded batch", split.padded),
    )
    return [
        f"computed {way}, the logits differ by {difference:.2g} from one uncached pass, but rounding explains at most "
        f"{allowed:.2g}"
        for way, difference in ways
        if not difference <= allowed
    ]


def _reference_problems(found: Comparison, whose: str) -> list[str]:
    problems = []
    if not found.logit_difference <= found.tolerance:
        problems.append(
            f"the logits differ by {found.logit_difference:.2g} from those of {whose}, but rounding explains at most "
            f"{found.tolerance:.2g}"
        )
    if found.equal_tokens < found.tokens and not found.tie:
        problems.append(f"greedy token {found.equal_tokens + 1} of {found.tokens} differs from the one of {whose}")
    return problems
