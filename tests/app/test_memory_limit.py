"""Out-of-memory errors of any library become one message."""

from __future__ import annotations

import errno
import resource
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from app.memory_limit import out_of_memory_message


def chained() -> Exception:
    try:
        try:
            raise ImportError("lib.so: failed to map segment from shared object")
        except ImportError as error:
            raise ImportError("IMPORTANT: PLEASE READ THIS") from error
    except ImportError as error:
        return error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("can't start new thread"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 12 bytes"),
        chained(),
    ],
)
def test_it_is_said(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (500 << 20, 500 << 20))
    assert "500 MiB" in (out_of_memory_message(error) or "")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert "ulimit" not in (out_of_memory_message(error) or "ulimit")


@pytest.mark.parametrize("error", [ImportError("No module named 'x'"), RuntimeError("shapes differ"), OSError(2, "no")])
def test_other_errors_are_others(error: Exception) -> None:
    assert out_of_memory_message(error) is None


def test_the_command_line_ends_with_it(typed: Callable[..., SimpleNamespace], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> int:
        raise chained()

    monkeypatch.setattr("app.commands.keys.run", fails)
    output = typed("keys", "list")
    assert output.code == 1
    assert "out of memory" in output.err
