"""The command line ``plumbline COMMAND``: parse arguments, run the command, report errors and exit codes."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence

from pydantic import ValidationError

from app.commands.parser import Parser, add_common, options_of
from app.console import Output
from app.errors import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_USAGE, UsageError
from app.memory_limit import out_of_memory_message
from plumbline_errors import PlumblineError

# In order of use. Each is a module of app.commands, imported only to declare its arguments. Large packages are
# imported when the command runs, so that --help is fast.
COMMANDS = (
    *(
        "index",
        "collections",
        "retrieve",
        "tune",
        "query",
        "questions",
        "evaluate",
        "score",
        "verify",
        "report",
        "gate",
        "runs",
        "label",
        "plan",
        "calibrate",
        "train",
        "model",
        "prompts",
        "serve",
        "watch",
        "keys",
        "prune",
        "work",
        "doctor",
    ),
    "demo",
)

_EPILOG = """Exit codes: 0 success; 1 error; 2 invalid usage; 3 a threshold that you set was missed; 4 partial success
(some answers are unscored); 130 interrupted (run the same command again to resume)."""


def build_parser() -> Parser:
    """Build the parser of the entire command line."""
    parser = Parser(
        prog="plumbline",
        description="Answers questions from your own documents and measures how often the model hallucinates.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"plumbline {_version()}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"app.commands.{name}")
        text = (module.__doc__ or "").strip()
        sub = subparsers.add_parser(name, help=_first_sentence(text), description=text)
        add_common(sub, home=".demo" if name == "demo" else "~/.plumbline")
        module.add(sub)
        sub.set_defaults(run=module.run)
    return parser


def _first_sentence(text: str) -> str:
    """Return the first line of a command's description, for the list of commands."""
    return text.splitlines()[0]


def with_flag(error: PlumblineError, flags: frozenset[str]) -> str:
    """Return the error's message with the name of the option or environment variable that it concerns."""
    from app.settings import Settings

    flag, message = f"--{error.parameter.replace('_', '-')}", str(error)
    if flag not in flags and error.parameter in Settings.model_fields:
        flag = f"PLUMBLINE_{error.parameter.upper()}"
    elif flag not in flags:
        return message
    return message if flag in message else f"{message} ({flag})"


def _version() -> str:
    from importlib.metadata import version

    return version("plumbline-rag")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    output = Output(as_json=False)
    flags: frozenset[str] = frozenset()
    try:
        parser = build_parser()
        arguments = parser.parse_args(argv)
        # For commands that also read settings from a file.
        arguments.argv = (sys.argv[1:] if argv is None else list(argv))[1:]
        output = Output(as_json=arguments.json)
        flags = options_of(parser, arguments)
        code = int(arguments.run(arguments, output))
        sys.stdout.flush()
        return code
    except UsageError as error:
        output.info(f"plumbline: {with_flag(error, flags)}")
        return EXIT_USAGE
    except PlumblineError as error:
        output.info(f"plumbline: error: {with_flag(error, flags)}")
        return EXIT_ERROR
    except ValidationError as error:
        for problem in error.errors():
            name = ".".join(map(str, problem["loc"])).upper()
            output.info(f"plumbline: error: PLUMBLINE_{name} is {problem['input']!r}: {problem['msg']}")
        return EXIT_USAGE
    except KeyboardInterrupt:
        if argv is None:  # The process is about to end; a second Ctrl-C must not print a traceback.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        output.info("plumbline: interrupted; finished work is kept, run the same command again to continue")
        return EXIT_INTERRUPTED
    except (MemoryError, ImportError) as error:
        message = out_of_memory_message(error)
        if message is None:
            raise
        output.info(f"plumbline: error: {message}")
        return EXIT_ERROR
    except BrokenPipeError:
        # The reader of stdout closed the pipe (| head). Without this, Python reports an error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_ERROR
    except RuntimeError as error:
        message = out_of_memory_message(error)
        if message is not None:
            output.info(f"plumbline: error: {message}")
            return EXIT_ERROR
        if "home directory" not in str(error):  # raised by pathlib for "~" when the home directory is unknown
            raise
        output.info(
            "plumbline: error: your home folder is unknown (HOME is not set): set PLUMBLINE_HOME, and write paths "
            "without ~"
        )
        return EXIT_ERROR
    except OSError as error:
        # For example a full disk, a read-only folder or an invalid path; the message names the problem and the path.
        output.info(f"plumbline: error: {error}; finished work is kept")
        return EXIT_ERROR


if __name__ == "__main__":
    sys.exit(main())
