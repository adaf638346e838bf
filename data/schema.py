"""The tables: what is kept, and what keeps it consistent. Portable types only (SQLite now, PostgreSQL by URL).

Knows nothing of connections (store.py) nor of the types of other rooms: each room maps its own to rows. They stand in
data/tables/ by concept; whoever needs one takes it from here, so that no one ever sees some tables without the others.
"""

from __future__ import annotations

from data.tables.corpus import collections, documents, generation_documents, generations, vectors
from data.tables.measuring import label_draws, labels, run_questions, runs, samples, verdicts
from data.tables.service import api_keys, jobs, queries
from data.tables.shared import SCHEMA_VERSION, meta, metadata

__all__ = [
    "SCHEMA_VERSION",
    "api_keys",
    "collections",
    "documents",
    "generation_documents",
    "generations",
    "jobs",
    "label_draws",
    "labels",
    "meta",
    "metadata",
    "queries",
    "run_questions",
    "runs",
    "samples",
    "vectors",
    "verdicts",
]
