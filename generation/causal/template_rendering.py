"""The child process that renders a chat template: one request on standard input, one answer on standard output.

A template is a program written by the checkpoint's author. Jinja's sandbox blocks access to files and to Python
internals, but it limits neither time nor memory. The process therefore has limits (template_process.py). Templates get
the same environment as in transformers; tests compare the two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from model.limited_process import give_answer, take_request

# A fixed date. With today's date, the prompts and so the answers to the same seeds would change every day.
_SAME_DAY = "2026-01-01"


def main() -> None:
    """Serve one request.

    It has the fields "template", "variables", "memory_bytes", "cpu_seconds" and "longest". The answer has the field
    "text" or "error".
    """
    request: dict[str, Any] = take_request()
    answer: dict[str, str]
    try:
        text = render(request["template"], request["variables"])
        if len(text) > request["longest"]:
            answer = {"error": f"its output has {len(text):,} characters, which is too long"}
        else:
            answer = {"text": text.encode("utf-8", "replace").decode()}  # no tokenizer accepts an unpaired surrogate
    except MemoryError:
        answer = {"error": f"it needs more than {request['memory_bytes'] >> 20} MiB of memory"}
    except Exception as error:  # it may raise anything
        answer = {"error": (str(error) or type(error).__name__)[:500]}
    give_answer(answer)


def render(template: str, variables: Mapping[str, object]) -> str:
    """Render the template with ``variables`` in the environment of transformers (utils/chat_template_utils.py).

    The date is fixed. Raises any error that the template raises.
    """
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {
        "raise_exception": _raise,
        "strftime_now": lambda form: _SAME_DAY,
        "dict": _Dict(),
        "namespace": _Namespace,
    }
    return environment.from_string(template).render(**variables)


class _Generation(Extension):
    """A block ``{% generation %}``, which marks assistant text for training. It is rendered as its contents."""

    tags = {"generation"}  # noqa: RUF012 - as jinja declares it

    def parse(self, parser: Parser) -> nodes.Node:
        """Parse the block with a new scope, as in transformers."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_render_generation"), [], [], body).set_lineno(line)

    def _render_generation(self, caller: Callable[[], str]) -> str:
        return caller()


class _Dict:
    """``dict`` without the type's attributes, which a template could use to escape the sandbox."""

    def __call__(self, *items: Any, **more: Any) -> dict[Any, Any]:
        return dict(*items, **more)

    def fromkeys(self, keys: Any, value: Any = None) -> dict[Any, Any]:
        """See dict."""
        return dict.fromkeys(keys, value)


class _Namespace(Namespace):
    """A namespace without access to attributes that start with an underscore, which a template could use to escape.

    The arguments have no names, so that ``namespace(self=...)`` works.
    """

    def __init__(*args: Any, **more: Any) -> None:
        target, items = args[0], dict(*args[1:], **more)
        for name in items:
            _check_name(name)
        Namespace.__init__(target, items)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace cannot have the attribute {name!r}, which starts with an underscore")


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Return the value as JSON, without the HTML escapes of Jinja's own filter."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise(message: str) -> None:
    raise TemplateError(message)
