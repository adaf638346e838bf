"""Fixtures: a reader with untrained weights and tiny Llama checkpoints, created once per session."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from generation.reader.prompt import ReaderPrompter
from generation.reader.reader import EmbeddedReader
from generation.reader.vocabulary import ReaderVocabulary, reader_vocabulary
from model.reader.prefix_decoder import save_prefix_decoder, warm_start
from retrieval.chunking.chunks import Chunk, RetrievedChunk

CHATML = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think></think>{% endif %}"
)
TEXTS = (
    "The lighthouse at Skerry was built in 1871 by Ada Thorne. It stands 34 metres above the sea.",
    "Answer the question from the numbered passages below. Question: who built the lighthouse? Answer: Ada Thorne",
    "<|im_start|> <|im_end|> <think> [1] [2] Café Zürich 1,200 m; every passage ends here.",
)


@pytest.fixture(scope="session")
def vocabulary() -> ReaderVocabulary:
    return reader_vocabulary()


@pytest.fixture(scope="session")
def prompter(vocabulary: ReaderVocabulary) -> ReaderPrompter:
    return ReaderPrompter(vocabulary)


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedReader:
    """A reader that starts from MiniLM and is not trained, so that its answers are arbitrary."""
    folder = tmp_path_factory.mktemp("reader")
    save_prefix_decoder(warm_start(0), folder, {})
    return EmbeddedReader(folder)


@pytest.fixture(scope="session")
def chunk() -> Callable[..., RetrievedChunk]:
    def make(text: str, title: str = "", rank: int = 1) -> RetrievedChunk:
        return RetrievedChunk(Chunk(f"d{rank}", 0, len(text), text, title), 1.0 / rank, rank)

    return make


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that writes a random Llama with a BPE tokenizer and returns its folder."""
    from tokenizers import AddedToken, decoders, models, pre_tokenizers, processors, trainers
    from tokenizers import Tokenizer as HFTokenizer
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = HFTokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        TEXTS * 3,
        trainers.BpeTrainer(
            vocab_size=380, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=[], show_progress=False
        ),
    )
    tokenizer.add_special_tokens(["<s>", "</s>", "<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens([AddedToken("<think>", special=False), AddedToken("</think>", special=False)])
    begin = tokenizer.token_to_id("<s>")
    end = tokenizer.token_to_id("</s>")

    def make(chat: bool = False, positions: int = 256, vocabulary: int | None = None, shard: str = "1GB") -> Path:
        folder = tmp_path_factory.mktemp("llama")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            model = LlamaForCausalLM(
                LlamaConfig(
                    vocab_size=vocabulary or tokenizer.get_vocab_size(),
                    hidden_size=32,
                    intermediate_size=48,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    num_key_value_heads=2,
                    max_position_embeddings=positions,
                    eos_token_id=end,
                    bos_token_id=begin,
                    initializer_range=0.3,
                )
            )
        model.save_pretrained(folder, max_shard_size=shard)
        if not chat:  # this tokenizer adds a token before and after a text; only the first belongs in a prompt
            tokenizer.post_processor = processors.TemplateProcessing(
                single="<s> $A </s>", special_tokens=[("<s>", begin), ("</s>", end)]
            )
        else:
            tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
            facts = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, "chat_template": CHATML}
            (folder / "tokenizer_config.json").write_text(json.dumps(facts))
        tokenizer.enable_truncation(8)
        tokenizer.enable_padding(length=16)
        tokenizer.save(str(folder / "tokenizer.json"))
        return folder

    return make
