"""Limits on the cost of parsing one file."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ParsingLimits:
    """Limits for one file.

    cpu_seconds, wall_seconds: for each document of a file, in the child process. Time spent waiting for the consumer
    does not count.
    memory_bytes: address space of a child.
    text_bytes: the largest .txt and .md file.
    file_bytes: the largest file of the kinds that are held in memory (html, pdf, docx, json, zip members).
    expanded_bytes: total unpacked size of a zip file, including nested ones.
    members: number of its members.
    depth: nesting depth of zip files (1: no zip within a zip).
    rows: number of documents and refused rows of one file.
    line_bytes: the longest line of a .csv or .jsonl file, and the longest cell.
    files_per_process: a child is replaced after this many files.
    """

    cpu_seconds: int = 60
    wall_seconds: float = 300.0
    memory_bytes: int = 1 << 30
    text_bytes: int = 50_000_000
    file_bytes: int = 200_000_000
    expanded_bytes: int = 1_000_000_000
    members: int = 100_000
    depth: int = 3
    rows: int = 20_000_000
    line_bytes: int = 50_000_000
    files_per_process: int = 500

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) <= 0:
                raise ValueError(f"{field.name} must be positive, not {getattr(self, field.name)}")
