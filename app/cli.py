"""The command line: ``plumbline COMMAND``. Parses, runs the command, turns errors into messages and exit codes."""

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
from app.memory_limit import no_memory
from plumbline_errors import PlumblineError

# In order of use. Each is a module of app.commands, imported for its arguments only; the heavy rooms are imported when
# the command runs, so that --help answers at once.
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
        "keys",
        "prune",
        "work",
        "doctor",
    ),
    "demo",
)

_EPILOG = """exit codes: 0 pass; 1 error; 2 usage; 3 a threshold you set was missed; 4 partial (some answers unscored);
130 interrupted, run the same command again to resume"""


def build_parser() -> Parser:
    """The whole command line."""
    parser = Parser(
        prog="plumbline",
        description="Answers questions from your own documents, and measures how often the model makes things up.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"plumbline {_version()}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"app.commands.{name}")
        text = (module.__doc__ or "").strip()
        sub = subparsers.add_parser(name, help=_first_sentence(text), description=text)
        add_common(sub)
        module.add(sub)
        sub.set_defaults(run=module.run)
    return parser


def _first_sentence(text: str) -> str:
    """What a list of commands says of one: the first line of its description."""
    return text.splitlines()[0]


def with_flag(error: PlumblineError, flags: frozenset[str]) -> str:
    """The error's message, and the command's option that it is about: Python callers know that by another name."""
    flag = f"--{error.parameter.replace('_', '-')}"
    message = str(error)
    return f"{message} ({flag})" if flag in flags and flag not in message else message


def _version() -> str:
    from importlib.metadata import version

    return version("plumbline-rag")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    output = Output(as_json=False)
    flags: frozenset[str] = frozenset()
    try:
        parser = build_parser()
        arguments = parser.parse_args(argv)
        arguments.argv = (sys.argv[1:] if argv is None else list(argv))[1:]  # for commands that read them from a file
        output = Output(as_json=arguments.json)
        flags = options_of(parser, arguments)
        code = int(arguments.run(arguments, output))
        sys.stdout.flush()
        return code
    except UsageError as error:
        output.say(f"plumbline: {with_flag(error, flags)}")
        return EXIT_USAGE
    except PlumblineError as error:
        output.say(f"plumbline: error: {with_flag(error, flags)}")
        return EXIT_ERROR
    except ValidationError as error:
        for problem in error.errors():
            name = ".".join(map(str, problem["loc"])).upper()
            output.say(f"plumbline: error: PLUMBLINE_{name} is {problem['input']!r}: {problem['msg']}")
        return EXIT_USAGE
    except KeyboardInterrupt:
        if argv is None:  # this process is the command's own: it only ends now, and a second Ctrl-C is no traceback
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        output.say("plumbline: interrupted; what was finished is kept, run the same command again to go on")
        return EXIT_INTERRUPTED
    except (MemoryError, ImportError) as error:
        advice = no_memory(error)
        if advice is None:
            raise
        output.say(f"plumbline: error: {advice}")
        return EXIT_ERROR
    except BrokenPipeError:
        # The reader of our output has gone (| head): nobody is left to tell. Python would complain at exit otherwise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_ERROR
    except RuntimeError as error:
        advice = no_memory(error)
        if advice is not None:
            output.say(f"plumbline: error: {advice}")
            return EXIT_ERROR
        if "home directory" not in str(error):  # pathlib's own, for "~" where nobody knows whose
            raise
        output.say("plumbline: error: there is no home folder (HOME): set PLUMBLINE_HOME, and write paths without ~")
        return EXIT_ERROR
    except OSError as error:
        # A full disk, a read-only folder, a path that cannot be: the system's own words name what and where.
        output.say(f"plumbline: error: {error}; what was finished before is kept")
        return EXIT_ERROR


if __name__ == "__main__":
    sys.exit(main())
