"""Documents for the indexing benchmarks: articles of the shared encyclopedia, or synthetic ones for a tiny run."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from data.documents import Document
from data.loaders import Refused, load_documents

WIKI = Path(__file__).parents[2] / "shared" / "data" / "wiki"
_WORDS = 4000


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """Add the options --data and --tiny."""
    parser.add_argument("--data", type=Path, default=WIKI, help="folder of .jsonl or .jsonl.bz2 articles")
    parser.add_argument("--tiny", action="store_true", help="synthetic articles; takes seconds, as a smoke test")


def articles(data: Path, count: int | None, tiny: bool) -> Iterator[Document]:
    """Yield the first ``count`` articles (all if None)."""
    if tiny:
        yield from islice(made_up(), count)
        return
    files = sorted(path for path in data.iterdir() if ".jsonl" in path.name)
    with closing(load_documents(files)) as items:  # type: ignore[type-var]
        yield from islice((item for item in items if not isinstance(item, Refused)), count)


def made_up() -> Iterator[Document]:
    """Yield endless, deterministic articles of words with a long-tailed distribution."""
    rng = random.Random(0)
    words = [f"w{i:x}" for i in range(_WORDS)]
    number = 0
    while True:
        sentences = []
        for _ in range(rng.randrange(5, 60)):
            picked = [words[min(int(rng.expovariate(1 / 300)), _WORDS - 1)] for _ in range(rng.randrange(6, 30))]
            sentences.append(" ".join(picked).capitalize() + ".")
        yield Document(f"a{number:06d}", f"Article {number}", " ".join(sentences))
        number += 1
