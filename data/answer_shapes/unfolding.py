"""Convert rows in the layouts of other tools to rows with one answer each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from data.answer_shapes import deepeval, promptfoo, trulens
from data.answer_shapes.conversations import TURN_LISTS, is_conversation, split_conversation
from data.answer_shapes.traces import is_trace, trace_rows
from data.refused import Refused
from data.rows import LeftOut, Row, rows_of


def items_of(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the items of a tool's JSON document, None if it has no known layout.

    Known layouts are DeepEval's test runs, promptfoo's results, and traces, which are not divided.
    """
    if is_trace(document):
        return [document]
    return _items_of_run(document)


def unfolded(rows: Iterable[Row | Refused], name: str) -> Iterator[Row | Refused | LeftOut]:
    """Yield the answers of rows in any layout. name: name of the file, for messages.

    If the first row is a span or a trace, all rows are treated as spans and grouped by trace.
    """
    source = iter(rows)
    leading: list[Row | Refused] = []
    for row in source:
        leading.append(row)
        if isinstance(row, Row):
            break
    all_rows = chain(leading, source)
    if leading and isinstance(first := leading[-1], Row) and is_trace(first.fields):
        refused: list[Refused] = []
        yield from trace_rows(_without_refused(all_rows, refused), name)
        yield from refused
        return
    for row in all_rows:
        if isinstance(row, Refused):
            yield row
        elif (items := _items_of_run(row.fields)) is not None:
            yield from (item if isinstance(item, Refused) else _converted(item) for item in rows_of(items, row.where))
        else:
            yield _converted(row)


def _items_of_run(document: Mapping[str, Any]) -> list[Any] | None:
    """Return the items of promptfoo's results or of a DeepEval test run, None for any other document."""
    found = promptfoo.results_of(document)
    return found if found is not None else deepeval.test_cases(document)


def _without_refused(rows: Iterable[Row | Refused], refused: list[Refused]) -> Iterator[Row]:
    for row in rows:
        if isinstance(row, Refused):
            refused.append(row)
        else:
            yield row


def _converted(row: Row) -> Row | Refused:
    fields = _known_fields(row.fields)
    if isinstance(fields, str):
        return Refused(row.where, fields, "part")
    return row if fields is None else Row(row.number, row.where, fields)


def _known_fields(given: Mapping[str, object]) -> dict[str, object] | str | None:
    """Return the fields of a row in a known layout, or a message why it has no answer.

    Returns None if the row has no known layout and is used unchanged.
    """
    if promptfoo.is_result(given):
        return promptfoo.answer_fields(given)
    if trulens.is_record(given):
        return trulens.answer_fields(given)
    if deepeval.is_test_case(given):
        return deepeval.answer_fields(given)
    turns = next((name for name in TURN_LISTS if is_conversation(given.get(name))), None)
    return None if turns is None else split_conversation(given, turns)
