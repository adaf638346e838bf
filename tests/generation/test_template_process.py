"""Chat templates are untrusted programs: good ones render as in transformers, and bad ones are stopped."""

from __future__ import annotations

import pytest

from generation.causal.template_process import TemplateLimits, render_limited
from generation.errors import GenerationError

MESSAGES = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Where is <b>Skerry</b>?"}]
# Features of published templates, one by one.
GOOD = {
    "loop": "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m.content | trim }}</s>\n{% endfor %}",
    "set": "{% set ns = namespace(system='', n=0) %}{% for m in messages %}{% if m.role == 'system' %}"
    "{% set ns.system = m.content %}{% endif %}{% set ns.n = ns.n + 1 %}{% endfor %}[{{ ns.system }}|{{ ns.n }}]",
    "control": "{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{{ m.content }}{% break %}"
    "{% endfor %}",
    "json": "{{ messages | tojson }}{{ messages | tojson(indent=2) }}{{ {'b': 1, 'a': 'é'} | tojson(sort_keys=true) }}",
    "generation": "{% set a = 1 %}{% generation %}{{ messages[1].content }}{% set a = 2 %}{% endgeneration %}{{ a }}",
    "dict": "{{ dict(a=1).items() | list }}{{ dict.fromkeys(['x'], 2) }}{{ namespace(self=3).self }}",
    "macro": "{% macro say(m, end='') %}{{ m.content }}{{ end }}{% endmacro %}{{ say(messages[0], '!') }}",
    "blanks": "\n  {% if true %}\n    one\n  {% endif %}\n{{- ' two' -}}\n   three\n",
    "tests": "{{ tools is none }}{{ tools is defined }}{{ nothing is defined }}{{ messages is iterable }}"
    "{{ bos_token }}",
    "methods": "{{ messages[0].content.split(' ')[-1].upper() }}{{ messages[1]['content'][6:8] }}{{ 'x' * 3 }}",
    "formatting": "{{ 'a{0.__class__}b{0}'.format(1) }}",
    "thinking": "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}",
    "filters": "{{ ['b', 'a'] | sort | join('-') }}{{ 'a' ~ 1 }}{{ messages | map(attribute='role') | list }}",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_template_gives_what_transformers_gives(name: str) -> None:
    from transformers.utils.chat_template_utils import render_jinja_template

    variables = {"bos_token": "<s>", "enable_thinking": False, "add_generation_prompt": True}
    theirs, _ = render_jinja_template([MESSAGES], chat_template=GOOD[name], **variables)
    assert (
        render_limited(GOOD[name], {"messages": MESSAGES, "tools": None, "documents": None, **variables}) == theirs[0]
    )


def test_every_day_is_the_same() -> None:
    assert render_limited("{{ strftime_now('%d %B') }}", {}) == "2026-01-01"


SMALL = TemplateLimits(memory_bytes=1 << 28, cpu_seconds=1, longest=1000)
LOOPS = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}"
DOUBLE = "{% set n = namespace(x='xxxxxxxxxxxxxxxx') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}"
BAD = {
    "nested loops": (LOOPS, "1 seconds"),
    "recursion": ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "recursion"),
    "doubling": (DOUBLE, "256 MiB"),
    "repeated": ("{{ 'x' * 10000000000 }}", "256 MiB"),
    "centred": ("{{ 'x' | center(10000000000) }}", "256 MiB"),
    "formatted": ("{{ '%2000000000d' | format(1) }}", "256 MiB"),
    "power": ("{{ 10 ** (10 ** 9) }}", "1 seconds"),
    "long": ("{% for a in range(1001) %}x{% endfor %}", "1,001"),
    "raised": ("{{ raise_exception('only one system message') }}", "only one system message"),
    "empty message": ("{{ raise_exception('') }}", "TemplateError"),
    "syntax": ("{% if %}", "expression"),
    "undefined": ("{{ nothing.at.all }}", "'nothing'"),
    "private": ("{{ ''.__class__.__mro__ }}", "unsafe"),
    "escape": ("{{ messages.__init__.__globals__ }}", "unsafe|undefined"),
    "namespace": ("{% set n = namespace(_x=1) %}", "underscore"),
    "changed": ("{{ messages.append(1) }}", "unsafe"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_template_ends_with_its_reason(name: str) -> None:
    template, reason = BAD[name]
    with pytest.raises(GenerationError, match=reason):
        render_limited(template, {"messages": MESSAGES}, SMALL)


def test_no_file_and_nothing_of_the_environment_is_within_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_MODEL_KEY", "sk-secret")
    for template in ("{% include '/etc/passwd' %}", "{% import '/etc/passwd' as p %}", "{% extends '/etc/passwd' %}"):
        with pytest.raises(GenerationError, match="loader"):
            render_limited(template, {})
    assert render_limited("{{ environ is defined }}{{ os is defined }}", {}) == "FalseFalse"


def test_halves_of_surrogate_pairs_become_characters() -> None:
    assert render_limited("a{{ x }}b", {"x": "\ud800"}) == "a?b"
