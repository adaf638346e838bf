"""Load, check and render prompt templates. Users can replace the default one with a file.

A template is Jinja with three variables: ``question``, ``passages`` (each with ``number``, ``title`` and ``text``) and
``instructions`` (of the caller, often empty). ``{% block system %}`` and ``{% block user %}`` are the two turns; a file
without blocks is the user's turn. Only text, the variables, ``if``, ``for passage in passages`` and a few filters are
allowed, which is checked on the syntax tree. A template therefore cannot call functions, and the length of its output
is limited by what it shows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NoReturn

from jinja2 import Environment, StrictUndefined, TemplateError, TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from generation.budget import FittedChunk
from generation.errors import GenerationError
from retrieval.chunking.chunks import Chunk, RetrievedChunk

VARIABLES = ("question", "passages", "instructions")
FIELDS = ("number", "title", "text")
_LOOP = ("index", "first", "last", "length")
_FILTERS = frozenset(("trim", "upper", "lower", "capitalize", "length"))
_LONGEST = 1 << 16  # bytes
_TITLE_CHARACTERS = 160  # as in the search index, so that a long title leaves space for the text
_BLOCKS = ("system", "user")
_ALLOWED = (
    nodes.Output,
    nodes.TemplateData,
    nodes.Const,
    nodes.If,
    nodes.CondExpr,
    nodes.Not,
    nodes.And,
    nodes.Or,
    nodes.Compare,
    nodes.Operand,
    nodes.Concat,
    nodes.Block,
)
SHORT_PASSAGE = FittedChunk(RetrievedChunk(Chunk("", 0, 1, "a"), 0.0, 1), 1)
"""A passage of one character, used to count the tokens that a template adds to each passage."""
PASSAGE_OVERHEAD = 3
"""Additional tokens that a passage may need: a number of two or three digits, and the colon after a title."""
_PROBE = "\ue000question\ue000"


@dataclass(frozen=True, slots=True)
class PromptTurns:
    """The contents of the system turn ("" for none) and of the user turn."""

    system: str
    user: str

    @property
    def joined(self) -> str:
        """Both turns as one text, for models without a system turn."""
        return f"{self.system}\n\n{self.user}" if self.system else self.user


@dataclass(frozen=True, slots=True)
class PromptPassage:
    """A passage as a template receives it. number: n in citations ``[n]``, from 1."""

    number: int
    title: str
    text: str


class PromptTemplate:
    """A validated prompt template.

    text: the template. name: its name in messages. Raises GenerationError with name, line and problem if the template
    is not allowed.
    """

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self._own_instructions = False
        self._system = self._user = None
        environment = _environment()
        try:
            tree = environment.parse(text)
            _Check(name, tree).run()
            template = environment.from_string(text)
        except TemplateSyntaxError as error:
            raise GenerationError(f"the prompt {name}, line {error.lineno}: {error.message}") from error
        self._own_instructions = any(node.name == "instructions" for node in tree.find_all(nodes.Name))
        blocks = dict(template.blocks)
        self._template = template
        self._system = blocks.get("system")
        self._user = blocks.get("user") if blocks else template.root_render_func
        self._check_shows()

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the template's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def turns(self, question: str, shown: Sequence[FittedChunk], instructions: str = "") -> PromptTurns:
        """Render the two turns for a question and the shown passages, numbered from 1.

        instructions: the caller's instructions; "" for none. If the template does not use them, they are placed at the
        start of its first turn.
        """
        passages = tuple(_passage(number, fitted) for number, fitted in enumerate(shown, start=1))
        return self._turns(question, passages, instructions)

    def _turns(self, question: str, passages: Sequence[PromptPassage], instructions: str) -> PromptTurns:
        variables = {"question": question, "passages": passages, "instructions": instructions.strip()}
        system, user = self._render(self._system, variables), self._render(self._user, variables)
        if instructions.strip() and not self._own_instructions:
            own = instructions.strip()
            return PromptTurns(f"{own}\n\n{system}", user) if system else PromptTurns("", f"{own}\n\n{user}")
        return PromptTurns(system, user)

    def _render(self, block: Any, variables: Mapping[str, object]) -> str:
        if block is None:
            return ""
        try:
            return "".join(block(self._template.new_context(dict(variables)))).strip()
        except TemplateError as error:
            raise GenerationError(f"the prompt {self.name}: {error}") from error

    def _check_shows(self) -> None:
        """Raise GenerationError if the template does not show the question once, or does not show the passages."""
        passage = PromptPassage(1, "\ue000title\ue000", "\ue000text\ue000")
        for passages in ((), (passage,)):
            turns = self._turns(_PROBE, passages, "")
            if turns.user.count(_PROBE) != 1:
                where = "with passages" if passages else "without passages"
                raise GenerationError(
                    f"the prompt {self.name} shows the question {turns.user.count(_PROBE)} times in the user's turn "
                    f"{where}: it must show {{{{ question }}}} once"
                )
        if passage.text not in turns.joined:
            raise GenerationError(
                f"the prompt {self.name} does not show the passages: add "
                "{% for passage in passages %}[{{ passage.number }}] {{ passage.text }}{% endfor %}"
            )


def read_prompt(path: Path) -> PromptTemplate:
    """Read a template from a file. Raises GenerationError, which names the file, if it is unreadable or invalid."""
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
        if len(content) > _LONGEST:
            raise GenerationError(f"the prompt {path} is longer than {_LONGEST:,} bytes")
        return PromptTemplate(content.decode("utf-8"), str(path))
    except OSError as error:
        raise GenerationError(f"the prompt {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise GenerationError(f"the prompt {path} is not UTF-8: byte {error.start}") from error


@cache
def default_prompt() -> PromptTemplate:
    """Return the default template."""
    file = resources.files("generation") / "prompts" / "default.jinja"
    return PromptTemplate(file.read_text("utf-8"), "default")


def shown_title(chunk: Chunk) -> str:
    """Return a chunk's title on one line, truncated, as templates show it."""
    return " ".join(chunk.title.split())[:_TITLE_CHARACTERS]


def _passage(number: int, fitted: FittedChunk) -> PromptPassage:
    chunk = fitted.retrieved.chunk
    return PromptPassage(number, shown_title(chunk), chunk.text[: fitted.end])


@cache
def _environment() -> Environment:
    return ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)


class _Check:
    """A check of a template's syntax tree, which raises GenerationError at the first node that is not allowed."""

    def __init__(self, name: str, tree: nodes.Template) -> None:
        self._name = name
        self._tree = tree
        self._passages: set[str] = set()

    def run(self) -> None:
        body: list[nodes.Node] = self._tree.body
        blocks = [node for node in body if isinstance(node, nodes.Block)]
        for block in blocks:
            if block.name not in _BLOCKS:
                self._refuse(block, f"the block {block.name} is not known: use {' and '.join(_BLOCKS)}")
        if blocks and any(not _is_blank(node) for node in body if node not in blocks):
            self._refuse(self._tree, "text outside of the blocks would not be shown: move it into a block")
        if blocks and "user" not in {block.name for block in blocks}:
            self._refuse(blocks[0], "the block user is missing: add {% block user %}")
        for node in self._tree.body:
            self._visit(node)

    def _visit(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.For):
            source, target = node.iter, node.target
            if not isinstance(target, nodes.Name) or not isinstance(source, nodes.Name) or source.name != "passages":
                self._refuse(node, "a loop must be {% for passage in passages %}")
            self._passages.add(target.name)
            children: Iterator[nodes.Node] = iter((*node.body, *node.else_, *((node.test,) if node.test else ())))
        elif isinstance(node, nodes.Name):
            if node.name not in (*VARIABLES, *self._passages, "loop"):
                self._refuse(node, f"the variable {node.name} is not known: use {', '.join(VARIABLES)}")
            children = iter(())
        elif isinstance(node, nodes.Getattr):
            known = _LOOP if isinstance(node.node, nodes.Name) and node.node.name == "loop" else FIELDS
            if not isinstance(node.node, nodes.Name) or node.attr not in known:
                self._refuse(node, f"the field {node.attr} is not known: a passage has {', '.join(FIELDS)}")
            children = iter((node.node,))
        elif isinstance(node, nodes.Filter):
            if node.name not in _FILTERS or node.args or node.kwargs:
                self._refuse(node, f"the filter {node.name} is not allowed: use {', '.join(sorted(_FILTERS))}")
            children = node.iter_child_nodes()
        elif isinstance(node, _ALLOWED):
            children = node.iter_child_nodes()
        else:
            what = type(node).__name__
            self._refuse(node, f"{what} is not allowed: a prompt can only show {', '.join(VARIABLES)}")
        for child in children:
            self._visit(child)

    def _refuse(self, node: nodes.Node, message: str) -> NoReturn:
        raise GenerationError(f"the prompt {self._name}, line {node.lineno}: {message}")


def _is_blank(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Output) and all(
        isinstance(part, nodes.TemplateData) and not part.data.strip() for part in node.nodes
    )
