"""Where the files of an index job are parsed: in child processes here, or by the workers of an executor."""

from __future__ import annotations

from functools import partial

from data.block_work import BlockExecutor
from data.parsing.distributed import FileParser, parse_files_on
from data.parsing.limits import ParsingLimits
from data.parsing.pool import FileParsing, parse_files


def file_parsing(executor: BlockExecutor | None) -> FileParsing:
    """How files are parsed. executor: None for this machine's child processes; else its workers parse, which start
    now.
    """
    if executor is None:
        return parse_files
    return partial(parse_files_on, executor.workers(partial(FileParser, ParsingLimits()), models=False))
