"""The tables of the database and their constraints, with types that SQLite and PostgreSQL both support.

They are independent of connections (store.py) and of the types of other packages, which convert theirs to rows. The
tables are defined in data/tables/ by topic. Import them from here, so that ``metadata`` always has all tables.
"""

from __future__ import annotations

from data.tables.corpus import collections, documents, generation_documents, generations, vectors
from data.tables.measuring import label_draws, labels, run_questions, runs, samples, verdicts
from data.tables.service import api_keys, jobs, queries, rate_buckets
from data.tables.shared import SCHEMA_VERSION, meta, metadata
from data.tables.watching import anchor_checks, audit_labels, audits

__all__ = [
    "SCHEMA_VERSION",
    "anchor_checks",
    "api_keys",
    "audit_labels",
    "audits",
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
    "rate_buckets",
    "run_questions",
    "runs",
    "samples",
    "vectors",
    "verdicts",
]
