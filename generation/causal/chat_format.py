"""Apply the chat templates of checkpoints, and isolate document text from template markup.

The template is rendered around a placeholder. The text is encoded separately with special tokens disabled, so that a
document that contains ``<|im_end|>`` is read as those characters and cannot end the user's turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer as HFTokenizer

from generation.causal.prompt_template import PromptTurns
from generation.causal.template_process import render_limited
from generation.errors import GenerationError
from model.checkpoints.source import tokenizer_config, tokenizer_text
from model.checkpoints.tokenizer import Tokenizer, panics_as_errors
from model.errors import ModelError

_LONGEST_FILE = 1 << 24  # bytes; real templates have thousands to millions
_SYSTEM, _USER = "\ue000system\ue000", "\ue000user\ue000"


@dataclass(frozen=True, slots=True)
class ChatFrame:
    """The tokens of a chat template around the texts of the turns.

    before, after: token IDs before and after the text of a single user turn. system: token IDs before a system turn,
    between the turns, and after the user turn; None if the template has no system turn.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    system: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] | None = None


def chat_frame(folder: Path) -> ChatFrame:
    """Return the frame of a checkpoint's chat template, or only its begin-of-sequence token if it has no template.

    Raises GenerationError if the template cannot be rendered with one user message.
    """
    raw = HFTokenizer.from_str(tokenizer_text(folder))
    raw.no_truncation()
    raw.no_padding()
    template = chat_template(folder)
    if template is None:
        with panics_as_errors():
            return ChatFrame(_beginning(raw), ())
    alone = _around(folder, template, (("user", _USER),))
    if alone is None:
        raise GenerationError(f"the chat template of {folder} does not show the user's message exactly once")
    try:
        both = _around(folder, template, (("system", _SYSTEM), ("user", _USER)))
    except GenerationError:  # raised by templates without a system turn, such as Gemma's
        both = None

    def ids(part: str) -> tuple[int, ...]:
        return tuple(raw.encode(part, add_special_tokens=False).ids)

    with panics_as_errors():
        system = None if both is None else (ids(both[0]), ids(both[1]), ids(both[2]))
        return ChatFrame(ids(alone[0]), ids(alone[1]), system)


def _around(folder: Path, template: str, turns: Sequence[tuple[str, str]]) -> list[str] | None:
    """Return the text before, between and after the turns' contents.

    Returns None if a content does not occur exactly once, or the order differs. Some templates take a message as a list
    of parts, not as a string, so both forms are tried.
    """
    failure: GenerationError | None = None
    for in_parts in (False, True):
        messages: list[Mapping[str, object]] = [
            {"role": role, "content": [{"type": "text", "text": content}] if in_parts else content}
            for role, content in turns
        ]
        try:
            rest = _render(folder, template, messages)
        except GenerationError as error:
            failure = failure or error
            continue
        pieces: list[str] = []
        for _, content in turns:
            before, found, rest = rest.partition(content)
            pieces.append(before)
            if not found or content in rest:
                break
        else:
            return [*pieces, rest]
    if failure is not None:
        raise failure
    return None


def _beginning(raw: HFTokenizer) -> tuple[int, ...]:
    """Return the tokens that the tokenizer adds before a text. Tokens that it adds after it would end the prompt."""
    bare = raw.encode("a", add_special_tokens=False).ids
    ids = raw.encode("a").ids
    return next((tuple(ids[:i]) for i in range(len(ids)) if ids[i : i + len(bare)] == bare), ())


def chat_template(folder: Path) -> str | None:
    """Return the chat template in chat_template.jinja or tokenizer_config.json of a folder; None if it has none."""
    separate = folder / "chat_template.jinja"
    if separate.is_file():
        _refuse_long(separate)
        try:
            return separate.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise GenerationError(f"{separate} cannot be read as UTF-8 text: {error}") from error
    config = _config(folder)
    template = config.get("chat_template")
    if isinstance(template, list):  # several named templates
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
        raise GenerationError(f"{path} has {size:,} bytes: a chat template may have at most {_LONGEST_FILE:,}")


def _render(folder: Path, template: str, messages: Sequence[Mapping[str, object]]) -> str:
    config = _config(folder)
    tokens: dict[str, str] = {}
    for name in ("bos_token", "eos_token", "pad_token", "unk_token"):
        value = config.get(name)
        if isinstance(value, dict):
            value = value.get("content")
        if isinstance(value, str):
            tokens[name] = value
    variables = {
        "messages": messages,
        "tools": None,
        "documents": None,
        "add_generation_prompt": True,
        "enable_thinking": False,  # short answers leave no tokens for reasoning (Qwen3, SmolLM3)
        **tokens,
    }
    try:
        return render_limited(template, variables)
    except GenerationError as error:
        raise GenerationError(f"the chat template of {folder} cannot be rendered: {error}") from error


def frame_tokens(frame: ChatFrame, turns: PromptTurns, tokenizer: Tokenizer) -> tuple[int, ...]:
    """Return the token IDs of the entire prompt: the frame with the texts of the turns.

    If the template has no system turn, both texts are in the user's turn.
    """
    if turns.system and frame.system is not None:
        before, between, after = frame.system
        system, user = tokenizer.encode(turns.system).token_ids, tokenizer.encode(turns.user).token_ids
        return (*before, *system, *between, *user, *after)
    return (*frame.before, *tokenizer.encode(turns.joined).token_ids, *frame.after)
