"""Copy a generation from an engine to local files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from retrieval.engines.local import LocalWriter
from retrieval.generations.document_versions import batches
from retrieval.generations.folder import Generation, WrittenIndexes, write_generation
from retrieval.generations.manifest import Manifest
from retrieval.indexing.vector_file import VectorFile

_BLOCK = 5000


def copy_to_files(generation: Generation, folder: Path) -> Manifest:
    """Write the generation to ``folder/<hash>`` with the same hash, and return its manifest, which has no engine.

    Raises EngineError if the engine does not answer, and OSError if the disk is full.
    """
    manifest = generation.manifest

    def write(temporary: Path) -> WrittenIndexes:
        writer = LocalWriter(temporary)
        writer.write_words(generation.lexical)
        with VectorFile(temporary / "vectors.tmp", manifest.chunks, manifest.dimension) as file:
            for positions in batches(range(manifest.chunks), _BLOCK):
                file.write(positions[0], generation.dense.vectors(np.asarray(positions, dtype=np.int64)))
            vectors = cast(NDArray[np.float32], file)
            built = writer.write_vectors(vectors, manifest.params.dense, lambda *_: None)
        recall = asdict(built.recall) if built.recall is not None else None
        return WrittenIndexes(manifest.dimension, built.kind, recall)

    return write_generation(folder, generation.table, manifest.params, manifest.encoder, write)
