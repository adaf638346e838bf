"""The allowed values of options. A test compares them with the types that they represent."""

from __future__ import annotations

MODES = ("hybrid", "dense", "bm25")
FUSIONS = ("minmax", "zscore", "rrf")
STYLES = ("short", "sentence")
VERIFIERS = ("auto", "reference", "entailment", "facts", "judge", "labels")
CLAIM_VERIFIERS = ("auto", "entailment", "facts", "judge")
"""Verifiers that can judge a single claim."""

PRECISIONS = ("fp32", "bf16", "int8", "int4", "auto")
ENCODER_PRECISIONS = ("fp32", "bf16", "auto")
WRITTEN_DTYPES = ("float16", "bfloat16", "float32")


def mode(text: str) -> str:
    """Parse --mode. "sparse" is an older name of "bm25"."""
    return "bm25" if text == "sparse" else text
