"""Convert promptfoo's results, versions 1 to 3: ``promptfoo eval --output results.json`` (also .jsonl).

Each result is a provider's answer to the variables of a test. Variables are recognised as question, contexts or
references by their names. If no variable is a question, the rendered prompt is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from data.answer_names import NAMES
from data.answer_shapes.texts import answer_of, passages_of

_QUESTIONS: Final = (*NAMES["question"], "q", "user_question", "message")
_CONTEXTS: Final = NAMES["contexts"]
_REFERENCES: Final = NAMES["references"]
_EQUALITY: Final = frozenset({"equals", "factuality", "similar", "model-graded-factuality", "icontains", "contains"})


def results_of(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the results of an export, None if the document is not an export."""
    inner = document.get("results")
    if isinstance(inner, Mapping) and isinstance(inner.get("results"), list):
        return list(inner["results"])
    return None


def is_result(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a result of promptfoo."""
    return isinstance(row.get("vars"), Mapping) and "provider" in row and ("response" in row or "error" in row)


def answer_fields(row: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return the fields of a result, or a message with the provider's error if there is no answer."""
    variables, response = row["vars"], row.get("response")
    output = response.get("output") if isinstance(response, Mapping) else response
    answer = output if isinstance(output, str) else answer_of(output)
    if answer is None and output is not None:
        answer = json.dumps(output, ensure_ascii=False)
    if answer is None:
        error = row.get("error") or (response.get("error") if isinstance(response, Mapping) else None)
        return f"it has no answer (the provider's error: {str(error or 'none is recorded')[:200]})"
    references = _named_value(variables, _REFERENCES)
    provider, prompt = row["provider"], row.get("prompt")
    prompt_label = f" {prompt['label']}" if isinstance(prompt, Mapping) and isinstance(prompt.get("label"), str) else ""
    name = str(provider.get("label") or provider.get("id")) if isinstance(provider, Mapping) else str(provider)
    metadata = response.get("metadata") if isinstance(response, Mapping) else None
    contexts = passages_of(_named_value(variables, _CONTEXTS)) or passages_of(
        _named_value(metadata if isinstance(metadata, Mapping) else {}, _CONTEXTS)
    )
    fields: dict[str, Any] = {
        "question": _named_value(variables, _QUESTIONS) or _prompt_text(prompt),
        "answer": answer,
        "contexts": contexts,
        "references": references if references is not None else _expected_answer(row),
        "arm": name if row.get("promptIdx", 0) == 0 else f"{name}{prompt_label} (prompt {row['promptIdx'] + 1})",
    }
    test = row.get("testIdx")
    if isinstance(test, int):
        fields |= {"id": f"test {test + 1}", "sample": str(row.get("repeatIndex") or "")}
    return fields


def _named_value(values: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    normalised = {
        str(name).strip().casefold().replace("-", "_").replace(" ", "_"): value for name, value in values.items()
    }
    return next((normalised[name] for name in names if normalised.get(name) not in (None, "")), None)


def _prompt_text(prompt: object) -> str:
    raw = prompt.get("raw") if isinstance(prompt, Mapping) else prompt
    return raw if isinstance(raw, str) else ""


def _expected_answer(row: Mapping[str, Any]) -> list[str]:
    """Return the value of the assertion that compares the answer with a text.

    Several such assertions must all hold, so they are not alternative references, and the result is empty.
    """
    case = row.get("testCase")
    checks = case.get("assert") if isinstance(case, Mapping) else None
    if not isinstance(checks, list):
        return []
    values = [
        check["value"]
        for check in checks
        if isinstance(check, Mapping) and check.get("type") in _EQUALITY and isinstance(check.get("value"), str)
    ]
    return values if len(values) == 1 else []
