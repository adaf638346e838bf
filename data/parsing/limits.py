"""Limits on the cost of parsing a file."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ParsingLimits:
    """Limits for parsing a file.

    cpu_seconds, wall_seconds: time for each document of a file in the child process, without the time spent waiting for
    the consumer.
    memory_bytes: address space of a child process.
    text_bytes: size of a .txt or .md file.
    file_bytes: size of a file of a kind that is held in memory (html, pdf, docx, json, zip members).
    expanded_bytes: total unpacked size of a zip file, including nested ones.
    members: number of members of a zip file, including nested ones.
    depth: nesting depth of zip files; 1 allows no zip within a zip.
    rows: number of documents and refused rows of a file.
    line_bytes: length of a line of a .csv or .jsonl file, and of a cell.
    files_per_process: number of files after which a child process is replaced.
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
