"""Check that a decoder checkpoint is complete, supported, and computed exactly.

FOLDER is a GGUF file, or a Hugging Face checkpoint (config.json, *.safetensors, tokenizer.json) of the families llama
(including SmolLM2), mistral, qwen2, qwen3, smollm3 or gpt2. The check computes a short prompt in one pass, token by
token with the KV cache, in chunks and in a padded batch, and with transformers. Logits must agree within rounding
error, which is larger in bfloat16 and float16, and greedy tokens must be equal. Only one of the two models is in memory
at a time. The output lists family, parameters, memory by dtype, context, end tokens, positions, window and chat
template. Exit code 0: the checkpoint passes. Exit code 1: it fails, and the reasons are printed.

A reader ("reader" for the shipped one, or a folder written by ``plumbline train reader``) is computed in the same ways
and by the engine. The results are compared with one plain pass, because no other program can compute a reader.

"decoder" is the small shipped decoder and "smollm2" the one fetched by ``plumbline model add smollm2``, unless a folder
has that name.

The home records the SHA-256 of weight files when they are opened. A file with the same size but another SHA-256 was
damaged or replaced. Every command refuses such a file until --accept is given.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands.choices import WRITTEN_DTYPES
from app.commands.options import add_device, device_name
from app.console import Output
from app.errors import EXIT_ERROR, EXIT_OK

if TYPE_CHECKING:
    from app.models.check import ModelCheck
    from model.checkpoints.facts import DecoderFacts


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="checkpoint or reader")
    parser.add_argument(
        "--accept",
        action="store_true",
        help="accept weight files that were replaced intentionally, and record their current SHA-256",
    )
    add_device(parser)
    parser.add_argument(
        "--dtype", choices=WRITTEN_DTYPES, default="float32", help="dtype of the weights (default float32)"
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Check the checkpoint and print the results."""
    from app.models.check import ModelCheckRequest, check_model
    from app.models.shipped_decoder import decoder_folder
    from app.settings import Settings

    device = device_name(arguments)
    home = Settings.for_home(arguments.home).home_folder
    folder = decoder_folder(arguments.folder, home)
    if str(arguments.folder) == "reader" and not folder.exists():
        from model.checkpoints.shipped import shipped_reader

        folder = shipped_reader()
    result = check_model(ModelCheckRequest(folder, device, arguments.dtype, home, arguments.accept), output.info)
    if output.as_json:
        output.json(result.to_json())
    else:
        for name, value in _lines(result):
            output.data(f"{name:<14} {value}")
    for problem in result.problems:
        output.info(f"plumbline: error: {problem}")
    return EXIT_OK if result.passed else EXIT_ERROR


def _lines(result: ModelCheck) -> list[tuple[str, str]]:
    lines = [] if result.facts is None else _fact_lines(result.facts)
    if result.facts is not None and result.chat_template is not None:
        # repr, because this is text from the checkpoint, and no control character may reach the terminal.
        ends = ", ".join(f"{token} {text!r}" for token, text in result.end_tokens)
        lines.append(("end tokens", ends or "none: every completion runs until its limit"))
        lines.append(("tokenizer", f"{result.tokenizer_size:,} tokens, the embedding has {result.facts.vocabulary:,}"))
        lines.append(("chat template", "yes" if result.chat_template else "no: the prompt is plain text"))
    lines += [("weights", f"{name!r}, SHA-256 {sha256}") for name, sha256 in result.weights]
    lines.append(("used", f"{result.dtype} on {result.device}"))
    if (use := result.use) is not None:
        lines.append(("probabilities", f"temperature {use.temperature:g}, declining {use.null_bias:+g} nats"))
    if (split := result.split) is not None:
        ways = f"cached {split.cached:.2g}, in chunks {split.chunked:.2g}, padded {split.padded:.2g}"
        lines.append(("one pass", f"largest difference {ways}, on a prompt of {result.prompt_tokens} tokens"))
    if (reference := result.reference) is not None:
        ours = "transformers" if result.use is None else "engine"
        lines.append((ours, f"logits differ by {reference.logit_difference:.2g} (allowed {reference.tolerance:.2g})"))
        tie = ", then a tie within rounding error" if reference.tie else ""
        lines.append(("", f"{reference.equal_tokens} of {reference.tokens} greedy tokens equal{tie}"))
    lines.append(("result", "pass" if result.passed else "FAIL"))
    return lines


def _fact_lines(facts: DecoderFacts) -> list[tuple[str, str]]:
    lines = [
        ("family", f"{facts.family} ({facts.architecture}), {facts.layers} layers"),
        ("parameters", f"{facts.parameters:,}{', head tied to the embedding' if facts.tied_head else ''}"),
        ("stored as", ", ".join(facts.stored)),
    ]
    for size in facts.sizes:
        full = size.cache_bytes_per_token * facts.context_length
        lines.append(
            (
                f"in {size.dtype}",
                f"weights {_bytes(size.weight_bytes)}, KV cache {_bytes(size.cache_bytes_per_token)} per token, "
                f"{_bytes(full)} at full context",
            )
        )
    lines.append(("context", f"{facts.context_length:,} tokens"))
    if facts.rope is None:
        lines.append(("positions", "learned"))
    else:
        bare = f", none in {facts.unrotated_layers} layers" if facts.unrotated_layers else ""
        kind = "plain" if facts.rope == "default" else facts.rope
        lines.append(("positions", f"rotary, {kind}, base {facts.rope_theta:,.0f}{bare}"))
    window = "none" if facts.window is None else f"{facts.window:,} tokens in {facts.windowed_layers} layers"
    lines.append(("window", window))
    return lines


def _bytes(size: int) -> str:
    amount = float(size)
    for unit in ("B", "KB", "MB"):
        if amount < 1000:
            return f"{amount:,.4g} {unit}"
        amount /= 1000
    return f"{amount:,.4g} GB"
