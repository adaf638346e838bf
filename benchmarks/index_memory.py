"""Peak memory of the index job: python -m benchmarks.index_memory [--articles N] [--index KIND] [--workers N].

It indexes the first N articles of the encyclopedia (all by default) into a temporary folder, with the encoder in a
subprocess, as in `plumbline index`. The fake encoder (--encoder hashing, the default) runs all 25,896 articles in
minutes; it is bound by disk and one core of Python. --encoder minilm is bound by the encoder's matrix products, in a
process of about 0.8 GB. --encoder sampled uses the same memory, but computes one batch in 31. The target is 2,500 MB.
The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from app.retrieval.index_progress import ProgressLines
from benchmarks.corpus import add_corpus, articles
from benchmarks.hashing_encoder import HashingEncoder
from benchmarks.measuring import PeakMemory, folder_mib
from benchmarks.sampled_encoder import SampledEncoder
from data.store import Store
from retrieval.encoding.encoder import Encoder
from retrieval.encoding.sentence_transformer import load_default_encoder
from retrieval.encoding.subprocess_encoder import SubprocessEncoder
from retrieval.generations.index_params import IndexParams
from retrieval.indexing.indexer import JobParams, index_documents
from retrieval.vectors.params import DenseParams

ENCODERS: dict[str, Callable[[], Encoder]] = {
    "hashing": HashingEncoder,
    "sampled": SampledEncoder,
    "minilm": partial(load_default_encoder, precision="auto"),
}
INDEXES = {
    "auto": DenseParams(),
    "flat": DenseParams(kind="flat"),
    "sq8": DenseParams(quantisation="int8", kind="flat"),
    "hnsw": DenseParams(kind="hnsw"),
    "ivf": DenseParams(kind="ivf"),
    "ivf-sq8": DenseParams(kind="ivf", quantisation="int8"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus(parser)
    parser.add_argument("--articles", type=int, default=None)
    parser.add_argument("--encoder", choices=tuple(ENCODERS), default="hashing")
    parser.add_argument("--index", choices=tuple(INDEXES), default="auto")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None, help="folder for the index (default: a temporary folder)")
    arguments = parser.parse_args()
    count = arguments.articles or (50 if arguments.tiny else None)
    lines = ProgressLines(print, time.monotonic, every=20)
    with (
        tempfile.TemporaryDirectory(dir=arguments.folder) as name,
        PeakMemory() as memory,
        SubprocessEncoder(ENCODERS[arguments.encoder]) as encoder,  # as `plumbline index` does
    ):
        home = Path(name)
        started = time.monotonic()
        with Store.open(f"sqlite:///{home}/plumbline.db") as store:
            report = index_documents(
                store,
                home,
                "encyclopedia",
                articles(arguments.data, count, arguments.tiny),
                encoder,
                params=IndexParams.for_new_index(dense=INDEXES[arguments.index]),
                job=JobParams(workers=arguments.workers),
                progress=lines.update,
            )
        seconds = time.monotonic() - started
        disk = folder_mib(home)
    result = {
        "benchmark": "index_memory",
        "encoder": arguments.encoder,
        "articles": report.documents,
        "chunks": report.chunks,
        "index": report.index,
        "recall": report.recall,
        "seconds": round(seconds, 1),
        "peak_mib_with_children": round(memory.peak),
        "peak_mib_of_the_job": round(memory.own),
        "disk_mib": round(disk),
        "generation": report.generation_hash,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
