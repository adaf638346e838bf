"""Load training and test examples for a verifier: evidence, a claim, and whether the evidence supports it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from data.compressed import numbered_lines
from data.errors import DataError
from data.json_text import parse_json


@dataclass(frozen=True, slots=True)
class PairExample:
    """A claim with evidence, and whether the evidence supports it.

    question: question that the claim answers; "" if there is none. source: name of the data set. group: the unit that a
    split must not divide (by default source and evidence). wrong: words that make the claim unsupported, as (start,
    end) in characters; None if unknown. answer: ID of the answer that contains the claim; "" if there is none.
    """

    evidence: str
    claim: str
    supported: bool
    question: str = ""
    source: str = ""
    group: str = ""
    wrong: tuple[tuple[int, int], ...] | None = None
    answer: str = ""

    def __post_init__(self) -> None:
        if not self.claim.strip():
            raise ValueError("the claim is empty")
        if not self.evidence.strip():
            raise ValueError("the evidence is empty")
        for start, end in self.wrong or ():
            if not 0 <= start < end <= len(self.claim):
                raise ValueError(f"wrong words at {start}..{end} are outside the claim of {len(self.claim)} characters")


@dataclass(frozen=True, slots=True)
class PairFile:
    """The examples that were read. skipped: "file:line: reason" of each line that ``skip_bad`` left out."""

    examples: tuple[PairExample, ...]
    skipped: tuple[str, ...]


def load_pairs(paths: Sequence[Path], *, skip_bad: bool = False, limit: int | None = None) -> PairFile:
    """Read JSONL files (.jsonl, .jsonl.bz2, .jsonl.gz) of {evidence, claim, supported, question?, source?, group?}.

    skip_bad: whether to leave out bad lines and list them. limit: maximum number of examples per file; None for all.
    Raises DataError, which names file and line, at the first bad line (unless ``skip_bad``), for a missing file, and if
    there is no example.
    """
    examples: list[PairExample] = []
    skipped: list[str] = []
    for path in paths:
        count = 0
        for number, line in numbered_lines(path, "evidence, claims and whether they are supported"):
            if limit is not None and count >= limit:
                break
            try:
                examples.append(_example(parse_json(line), path))
                count += 1
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                where = f"{path}:{number}: {_message(error)}"
                if not skip_bad:
                    raise DataError(f"{where}; fix the line, or skip such lines", parameter="skip_bad") from error
                skipped.append(where)
    if not examples:
        raise DataError(f"no example in {', '.join(map(str, paths)) or 'no file'}: nothing to train on or to evaluate")
    return PairFile(tuple(examples), tuple(skipped))


def _message(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return str(error) or "not a pair of evidence and claim"


def _example(value: object, path: Path) -> PairExample:
    if not isinstance(value, dict):
        raise ValueError("a line must be a JSON object")
    texts: dict[str, str] = {}
    for name in ("evidence", "claim", "question", "source", "group"):
        text = value[name] if name in ("evidence", "claim") else value.get(name, "")
        if not isinstance(text, str):
            raise ValueError(f"{name} must be text, not {type(text).__name__}")
        texts[name] = text
    supported = value["supported"]
    if not isinstance(supported, bool):
        raise ValueError(f"supported is {supported!r}: it must be true or false")
    source = texts["source"] or path.name.split(".")[0]
    return PairExample(
        evidence=texts["evidence"],
        claim=texts["claim"],
        supported=supported,
        question=texts["question"],
        source=source,
        group=texts["group"] or f"{source}:{texts['evidence']}",
    )
