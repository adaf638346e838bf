"""How much one file may cost."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ParsingLimits:
    """cpu_seconds, wall_seconds: for each document that a file gives, in the child process; waiting for whoever takes
    the documents does not count. memory_bytes: address space of a child. text_bytes: the longest .txt and .md.
    file_bytes: the largest of the kinds that are held in memory (html, pdf, docx, json, zip members).
    expanded_bytes: what the members of one zip, with all zips in it, may come to. members: how many of them.
    depth: how deep zips may be nested (1: no zip in a zip). rows: how many documents and refused rows one file
    may give. line_bytes: the longest line of a .csv or .jsonl, and the longest cell. files_per_process: after so
    many a child is replaced.
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
