"""Convert the tokenizer of a GGUF file to a tokenizer.json: byte-level BPE, or SentencePiece's BPE."""

from __future__ import annotations

from functools import lru_cache
from typing import NoReturn

from tokenizers import AddedToken, Tokenizer, decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.processors import TemplateProcessing

from model.checkpoints.gguf.files import GgufModel
from model.checkpoints.gguf.merges import in_byte_alphabet, merges_from_scores, pairs
from model.checkpoints.gguf.pre_tokenizers import PRE_TOKENIZERS, PreTokenization
from model.errors import ModelError

_KEY = "tokenizer.ggml."
# Values of tokenizer.ggml.token_type.
_UNKNOWN, _CONTROL, _USER_DEFINED, _BYTE = 2, 3, 4, 6
_SPACE = "▁"
# Tokens that end a completion, in addition to those in the metadata. llama.cpp also finds them by name.
_END_NAMES = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>")
_END_KEYS = ("eos_token_id", "eot_token_id", "eom_token_id")


@lru_cache(maxsize=2)
def tokenizer_json(model: GgufModel) -> str:
    """Return the text of the tokenizer.json equivalent to a GGUF file's vocabulary.

    Raises ModelError, naming the file and the metadata key, for a tokenizer that is damaged or not supported.
    """
    kind = model.metadata.get(f"{_KEY}model")
    tokens = _tokens(model)
    types = _token_types(model, len(tokens))
    if kind == "gpt2":
        tokenizer, adds_bos = _byte_level(model, tokens, types)
    elif kind == "llama":
        tokenizer, adds_bos = _sentencepiece(model, tokens, types), True
    else:
        _refuse(model, "model", kind, "only gpt2 (byte-level BPE) and llama (SentencePiece) are supported")
    tokenizer.add_special_tokens(
        [AddedToken(t, normalized=False) for t, k in zip(tokens, types, strict=True) if k == _CONTROL]
    )
    tokenizer.add_tokens(
        [
            AddedToken(t, normalized=False, special=False)
            for t, k in zip(tokens, types, strict=True)
            if k == _USER_DEFINED
        ]
    )
    if _flag(model, "add_bos_token", adds_bos) and (bos := named_token(model, "bos_token_id")) is not None:
        tokenizer.post_processor = TemplateProcessing(
            single=[bos, "$A"], pair=[bos, "$A", "$B"], special_tokens=[(bos, tokens.index(bos))]
        )
    return str(tokenizer.to_str())


def named_token(model: GgufModel, key: str) -> str | None:
    """Return the token whose id the metadata gives under ``key``, such as ``bos_token_id``; None without that key."""
    token_id = model.metadata.get(_KEY + key)
    if token_id is None:
        return None
    tokens = _tokens(model)
    if not isinstance(token_id, int) or not 0 <= token_id < len(tokens):
        _refuse(model, key, token_id, f"the vocabulary has {len(tokens)} tokens")
    return tokens[token_id]


def end_token_ids(model: GgufModel) -> tuple[int, ...]:
    """Return the distinct ids that end a completion: those in the metadata, and control tokens with known names."""
    tokens = _tokens(model)
    types = _token_types(model, len(tokens))
    named = [model.metadata[_KEY + key] for key in _END_KEYS if named_token(model, key) is not None]
    known = [i for i, (t, k) in enumerate(zip(tokens, types, strict=True)) if k == _CONTROL and t in _END_NAMES]
    return tuple(dict.fromkeys(i for i in (*named, *known) if isinstance(i, int)))


def tokenizer_settings(model: GgufModel) -> dict[str, object]:
    """Return the contents of a tokenizer_config.json: the named tokens and the chat template."""
    keys = {
        "bos_token": "bos_token_id",
        "eos_token": "eos_token_id",
        "unk_token": "unknown_token_id",
        "pad_token": "padding_token_id",
    }
    named = {name: named_token(model, key) for name, key in keys.items()}
    settings: dict[str, object] = {name: token for name, token in named.items() if token is not None}
    template = model.metadata.get("tokenizer.chat_template")
    if template is not None and not isinstance(template, str):
        raise ModelError(f"{model.path}: tokenizer.chat_template is {type(template).__name__}, it must be a string")
    return settings if template is None else {**settings, "chat_template": template}


def _byte_level(model: GgufModel, tokens: list[str], types: list[int]) -> tuple[Tokenizer, bool]:
    pre_tokenization = _pre_tokenization(model)
    # Added tokens are matched as written. All other tokens are spelled in GPT-2's byte alphabet.
    names = [t if k in (_CONTROL, _USER_DEFINED) else in_byte_alphabet(t) for t, k in zip(tokens, types, strict=True)]
    vocabulary = _unique(model, names)
    merges = pairs(_strings(model, "merges"), vocabulary, f"{model.path}: {_KEY}merges")
    tokenizer = Tokenizer(BPE(vocabulary, merges, fuse_unk=False, ignore_merges=pre_tokenization.ignore_merges))
    tokenizer.pre_tokenizer = pre_tokenization.build()
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, pre_tokenization.adds_bos


def _sentencepiece(model: GgufModel, tokens: list[str], types: list[int]) -> Tokenizer:
    vocabulary = _unique(model, tokens)
    if f"{_KEY}merges" in model.metadata:
        merges = pairs(_strings(model, "merges"), vocabulary, f"{model.path}: {_KEY}merges")
    else:
        scores = model.metadata.get(f"{_KEY}scores")
        if not isinstance(scores, list) or len(scores) != len(tokens):
            _refuse(model, "scores", scores, f"it must be a list of {len(tokens)} numbers, one a token")
        merges = merges_from_scores(vocabulary, dict(zip(tokens, map(float, scores), strict=True)))
    unknown = next((t for t, k in zip(tokens, types, strict=True) if k == _UNKNOWN), None)
    tokenizer = Tokenizer(BPE(vocabulary, merges, unk_token=unknown, fuse_unk=True, byte_fallback=_BYTE in types))
    prefixed = _flag(model, "add_space_prefix", True)
    scheme = "first" if prefixed else "never"
    tokenizer.pre_tokenizer = Metaspace(replacement=_SPACE, prepend_scheme=scheme, split=False)
    steps = [decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    if prefixed:
        steps.append(decoders.Strip(content=" ", left=1))
    tokenizer.decoder = decoders.Sequence(steps)
    return tokenizer


def _pre_tokenization(model: GgufModel) -> PreTokenization:
    name = model.metadata.get(f"{_KEY}pre")
    if name is None and model.metadata.get("general.architecture") == "gpt2":
        name = "gpt-2"  # older files lack it
    found = PRE_TOKENIZERS.get(name) if isinstance(name, str) else None
    if found is None:
        _refuse(model, "pre", name, f"only {', '.join(PRE_TOKENIZERS)} are supported")
    return found


def _tokens(model: GgufModel) -> list[str]:
    tokens = _strings(model, "tokens")
    if not tokens:
        raise ModelError(f"{model.path}: {_KEY}tokens is missing or empty: the file has no tokenizer")
    return tokens


def _strings(model: GgufModel, name: str) -> list[str]:
    value = model.metadata.get(_KEY + name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        _refuse(model, name, value, "it must be a list of strings")
    return value


def _token_types(model: GgufModel, count: int) -> list[int]:
    """Return the type of each token. Without types in the metadata all tokens are ordinary."""
    types = model.metadata.get(f"{_KEY}token_type")
    if types is None:
        return [1] * count
    if not isinstance(types, list) or len(types) != count:
        _refuse(model, "token_type", types, f"it must be a list of {count} numbers, one a token")
    return types


def _unique(model: GgufModel, tokens: list[str]) -> dict[str, int]:
    vocabulary: dict[str, int] = {}
    for token_id, token in enumerate(tokens):
        if vocabulary.setdefault(token, token_id) != token_id:
            _refuse(model, "tokens", token, f"tokens {vocabulary[token]} and {token_id} are the same")
    return vocabulary


def _flag(model: GgufModel, name: str, default: bool) -> bool:
    value = model.metadata.get(_KEY + name, default)
    if not isinstance(value, bool):
        _refuse(model, name, value, "it must be true or false")
    return value


def _refuse(model: GgufModel, name: str, value: object, rule: str) -> NoReturn:
    shown = repr(value[:3] if isinstance(value, list) else value)
    shown = shown if len(shown) <= 120 else shown[:120] + "..."
    raise ModelError(f"{model.path}: {_KEY}{name} is {shown}: {rule}")
