"""Choose where files are parsed for indexing: in child processes of this machine or in the workers of an executor."""

from __future__ import annotations

from functools import partial

from data.block_work import BlockExecutor
from data.parsing.distributed import FileParser, parse_files_on
from data.parsing.limits import ParsingLimits
from data.parsing.pool import FileParsing, parse_files


def file_parsing(executor: BlockExecutor | None) -> FileParsing:
    """Return the function that parses files.

    executor: executor whose workers parse the files, which start now; None for child processes of this machine.
    """
    if executor is None:
        return parse_files
    return partial(parse_files_on, executor.workers(partial(FileParser, ParsingLimits()), models=False))
