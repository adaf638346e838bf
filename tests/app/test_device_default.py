"""Default device: every command uses a GPU if there is one, unless a device is given."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from app.cli import build_parser
from app.settings import Settings


def _devices(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, argparse.Action]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child, below in action.choices.items():
                yield from _devices(below, f"{name} {child}".strip())
        elif "--device" in action.option_strings:
            yield name, action


def test_device_is_auto_everywhere() -> None:
    assert Settings.model_fields["device"].default == "auto"
    found = dict(_devices(build_parser()))
    assert {"query", "serve", "evaluate", "score", "verify", "index", "model check", "train verifier"} <= found.keys()
    for name, action in found.items():
        assert action.default in (None, "auto"), name  # None: as the settings say
