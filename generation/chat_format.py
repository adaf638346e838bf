"""A checkpoint's own chat template, with document text kept out of its reach.

The template is rendered around a placeholder; the text is encoded by itself with special tokens switched off, so that a
document that contains ``<|im_end|>`` is read as those characters and cannot close the user's turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer as HFTokenizer

from generation.errors import GenerationError
from generation.template_process import rendered
from model.checkpoint_source import tokenizer_config, tokenizer_text
from model.errors import ModelError
from model.tokenizer import Tokenizer, panics_named

_LONGEST_FILE = 1 << 24  # bytes; templates and tokenizer_config.json have some thousands to millions
_PLACEHOLDER = "\ue000plumbline\ue000"


@dataclass(frozen=True, slots=True)
class ChatFrame:
    """Token ids that stand before and after the text of the one user turn."""

    before: tuple[int, ...]
    after: tuple[int, ...]


def chat_frame(folder: Path) -> ChatFrame:
    """The frame of a checkpoint: its chat template where it has one, else its begin-of-sequence token alone.

    Raises GenerationError when the template cannot be rendered with one user message.
    """
    raw = HFTokenizer.from_str(tokenizer_text(folder))
    raw.no_truncation()
    raw.no_padding()
    template = chat_template(folder)
    if template is None:
        with panics_named():
            return ChatFrame(_beginning(raw), ())
    before, found, after = _around_message(folder, template)
    if not found or _PLACEHOLDER in after:
        raise GenerationError(f"the chat template of {folder} does not show the user's message exactly once")
    with panics_named():
        parts = [tuple(raw.encode(part, add_special_tokens=False).ids) for part in (before, after)]
    return ChatFrame(*parts)


def _beginning(raw: HFTokenizer) -> tuple[int, ...]:
    """What a tokenizer without a template puts before a text; what it puts after one would end the prompt."""
    bare = raw.encode("a", add_special_tokens=False).ids
    whole = raw.encode("a").ids
    return next((tuple(whole[:i]) for i in range(len(whole)) if whole[i : i + len(bare)] == bare), ())


def chat_template(folder: Path) -> str | None:
    """The template of a checkpoint folder, from chat_template.jinja or tokenizer_config.json; None if it has none."""
    separate = folder / "chat_template.jinja"
    if separate.is_file():
        _refuse_long(separate)
        try:
            return separate.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise GenerationError(f"{separate} cannot be read as UTF-8 text: {error}") from error
    config = _config(folder)
    template = config.get("chat_template")
    if isinstance(template, list):  # several named ones
        named = {item.get("name"): item.get("template") for item in template if isinstance(item, dict)}
        template = named.get("default")
    return template if isinstance(template, str) else None


def _config(folder: Path) -> Mapping[str, object]:
    try:
        return tokenizer_config(folder)
    except ModelError as error:
        raise GenerationError(str(error)) from error


def _refuse_long(path: Path) -> None:
    if (size := path.stat().st_size) > _LONGEST_FILE:
        raise GenerationError(f"{path} is {size:,} bytes long: no checkpoint has one of more than {_LONGEST_FILE:,}")


def _around_message(folder: Path, template: str) -> tuple[str, str, str]:
    """What the template gives before and after the message. Some take a message as a list of parts, not as a string."""
    try:
        found = _render(folder, template, _PLACEHOLDER).partition(_PLACEHOLDER)
        if found[1]:
            return found
        failure: GenerationError | None = None
    except GenerationError as error:
        found, failure = ("", "", ""), error
    try:
        parts = _render(folder, template, [{"type": "text", "text": _PLACEHOLDER}]).partition(_PLACEHOLDER)
    except GenerationError:
        parts = ("", "", "")
    if not parts[1] and failure is not None:
        raise failure
    return parts if parts[1] else found


def _render(folder: Path, template: str, content: object) -> str:
    config = _config(folder)
    tokens: dict[str, str] = {}
    for name in ("bos_token", "eos_token", "pad_token", "unk_token"):
        value = config.get(name)
        if isinstance(value, dict):
            value = value.get("content")
        if isinstance(value, str):
            tokens[name] = value
    variables = {
        "messages": [{"role": "user", "content": content}],
        "tools": None,
        "documents": None,
        "add_generation_prompt": True,
        "enable_thinking": False,  # an answer of some words has no room for a train of thought (Qwen3, SmolLM3)
        **tokens,
    }
    try:
        return rendered(template, variables)
    except GenerationError as error:
        raise GenerationError(f"the chat template of {folder} cannot be rendered: {error}") from error


def frame_tokens(frame: ChatFrame, text: str, tokenizer: Tokenizer) -> tuple[int, ...]:
    """The whole prompt: the frame around the text's own tokens."""
    return (*frame.before, *tokenizer.encode(text).token_ids, *frame.after)
