"""Write tiny GGUF files in the layout of llama.cpp's converter, from tiny models of transformers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFEndian, GGUFWriter
from gguf.quants import quantize
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from model.checkpoints.gguf.pre_tokenizers import PRE_TOKENIZERS
from model.checkpoints.gguf.tensors import file_name

TEXTS = (
    "The lighthouse at Skerry was built in 1871 by Ada Thorne; it's 34 metres high, isn't it?\n\n  Yes, it is.",
    "Café Zürich, 1,200 m² — naïve façade… Größe 12345 <b>bold</b>\tdef f(x):\r\n    return x**2  # done",
    "Привет, мир! 日本語のテキスト。 안녕하세요 🙂🙃 مرحبا ١٢٣ ½ ² ⅷ",
)
SIZES: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "initializer_range": 0.3,
    "rms_norm_eps": 1e-5,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
}
GPT2: dict[str, Any] = {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 128, "initializer_range": 0.3}
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True)
class Vocabulary:
    """The metadata under tokenizer.ggml. control: ids of control tokens."""

    fields: Mapping[str, object]
    size: int


def byte_level(pre: str = "smollm", size: int = 480, **more: object) -> Vocabulary:
    """Train a byte-level BPE on TEXTS with the splitting of ``pre``, two control tokens and a user-defined one."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = PRE_TOKENIZERS[pre].build()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>"]
    tokenizer.train_from_iterator(
        TEXTS * 3,
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    import json

    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    tokens = [tokenizer.id_to_token(n) for n in range(tokenizer.get_vocab_size())]
    fields: dict[str, object] = {
        "model": "gpt2",
        "pre": pre,
        "tokens": tokens,
        "token_type": [3, 3, 3, 4] + [1] * (len(tokens) - 4),
        "merges": [" ".join(pair) for pair in merges],
        "bos_token_id": 1,
        "eos_token_id": 2,
        "add_bos_token": False,
    }
    return Vocabulary({**fields, **more}, len(tokens))


def sentencepiece(**more: object) -> Vocabulary:
    """Create a SentencePiece BPE with scores instead of merges and with byte tokens, so that no text is unknown."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{n:02X}>" for n in range(256))]
    pieces = ["▁t", "he", "▁the", "in", "▁a", "er", "on", "an", "re", "▁l", "ight", "house", "▁light", "▁lighthouse"]
    pieces += ["ig", "ht", "ho", "us", "use", "▁s", "at", "▁w", "as", "▁was", "li", "th", "is", "▁is", "▁▁", "▁▁▁▁"]
    characters = sorted(
        {c for text in TEXTS for c in text.replace(" ", "▁")} | set("▁" + "".join(map(chr, range(33, 127))))
    )
    pieces = [piece for piece in pieces if piece not in characters]
    tokens += pieces + characters
    scores = [0.0] * 259 + [-float(n) for n in range(len(pieces))] + [-1000.0 - n for n in range(len(characters))]
    types = [2, 3, 3] + [6] * 256 + [1] * (len(pieces) + len(characters))
    fields: dict[str, object] = {
        "model": "llama",
        "tokens": tokens,
        "scores": scores,
        "token_type": types,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "unknown_token_id": 0,
    }
    return Vocabulary({**fields, **more}, len(tokens))


@dataclass(frozen=True)
class Written:
    """A written file. file: the GGUF file, or its first part. model: the transformers model in it."""

    file: Path
    model: Any
    files: tuple[Path, ...] = field(default=())


def make_model(family: str, vocabulary: int, **more: object) -> Any:
    """Return a tiny random model of transformers."""
    import transformers

    names = {"llama": "Llama", "qwen2": "Qwen2", "qwen3": "Qwen3", "smollm3": "SmolLM3", "gpt2": "GPT2"}
    base = GPT2 if family == "gpt2" else SIZES | ({"head_dim": 16} if family == "qwen3" else {})
    config = getattr(transformers, f"{names[family]}Config")(
        **base | {"vocab_size": vocabulary, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None} | more
    )
    head = "LMHeadModel" if family == "gpt2" else "ForCausalLM"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = getattr(transformers, names[family] + head)(config).eval()
        for name, parameter in model.named_parameters():  # biases and norms other than 0 and 1
            if parameter.dim() == 1:
                parameter.data += 0.1 * torch.randn(parameter.shape)
            assert name
    return model


def write(
    file: Path,
    family: str = "llama",
    vocabulary: Vocabulary | None = None,
    *,
    quantised: str = "F32",
    parts: int = 1,
    template: str | None = CHATML,
    metadata: Mapping[str, object] | None = None,
    without: Sequence[str] = (),
    change: Callable[[dict[str, np.ndarray]], None] = lambda tensors: None,
    endian: GGUFEndian = GGUFEndian.LITTLE,
    **config: object,
) -> Written:
    """Write a GGUF file of a tiny model.

    metadata: additional keys, or other values. without: keys to omit. change: changes to tensors, by name in the file.
    """
    vocabulary = vocabulary or byte_level()
    model = make_model(family, vocabulary.size, **config)
    values: dict[str, object] = {f"tokenizer.ggml.{key}": value for key, value in vocabulary.fields.items()}
    values |= _shape(family, model.config)
    if template is not None:
        values["tokenizer.chat_template"] = template
    values = {key: value for key, value in (values | dict(metadata or {})).items() if key not in without}
    tensors = _tensors(family, model)
    change(tensors)
    names = list(tensors)
    files = (
        [file]
        if parts == 1
        else [file.with_name(f"{file.stem}-{n:05d}-of-{parts:05d}.gguf") for n in range(1, parts + 1)]
    )
    for number, path in enumerate(files):
        writer = GGUFWriter(path, family if number == 0 else "", endianess=endian)
        if parts > 1:
            writer.add_uint16("split.no", number)
            writer.add_uint16("split.count", parts)
            writer.add_int32("split.tensors.count", len(names))
        if number == 0:
            for key, value in values.items():
                _add(writer, key, value)
        for name in names[number::parts]:
            _add_tensor(writer, name, tensors[name], quantised)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return Written(files[0], model, tuple(files))


def _shape(family: str, config: Any) -> dict[str, object]:
    values: dict[str, object] = {
        "block_count": config.num_hidden_layers,
        "context_length": config.max_position_embeddings,
        "embedding_length": config.hidden_size,
        "attention.head_count": config.num_attention_heads,
    }
    if family == "gpt2":
        values |= {
            "feed_forward_length": 4 * config.hidden_size,
            "attention.layer_norm_epsilon": config.layer_norm_epsilon,
        }
    else:
        values |= {
            "feed_forward_length": config.intermediate_size,
            "attention.head_count_kv": config.num_key_value_heads,
            "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
            "rope.freq_base": float(config.rope_parameters["rope_theta"]),
        }
    if family == "qwen3":
        values |= {"attention.key_length": config.head_dim, "attention.value_length": config.head_dim}
    if family == "llama":
        values["rope.dimension_count"] = config.hidden_size // config.num_attention_heads
    return {f"{family}.{key}": value for key, value in values.items()}


def _tensors(family: str, model: Any) -> dict[str, np.ndarray]:
    """Return the tensors as llama.cpp's converter writes them, with matrices of GPT-2 transposed and rows permuted."""
    config, found = model.config, {}
    for key, value in model.state_dict().items():
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        array = value.float().numpy()
        if family == "gpt2":
            array = array.T if key.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")) else array
        elif family in ("llama", "smollm3") and ("q_proj" in key or "k_proj" in key):
            heads = config.num_attention_heads if "q_proj" in key else config.num_key_value_heads
            array = array.reshape(heads, 2, -1, *array.shape[1:]).swapaxes(1, 2).reshape(array.shape)
        found[file_name(key, gpt2=family == "gpt2")] = np.ascontiguousarray(array)
    return found


def _add_tensor(writer: GGUFWriter, name: str, values: np.ndarray, quantised: str) -> None:
    if quantised == "F32" or values.ndim == 1:
        writer.add_tensor(name, values.astype(np.float32))
    elif quantised == "F16":
        writer.add_tensor(name, values.astype(np.float16))
    else:
        kind = GGMLQuantizationType[quantised]
        writer.add_tensor(name, quantize(values.astype(np.float32), kind), raw_dtype=kind)


def _add(writer: GGUFWriter, key: str, value: object) -> None:
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        assert isinstance(value, list)
        writer.add_array(key, value)
