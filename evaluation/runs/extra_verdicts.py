"""Store and load the verdicts of verifiers other than the run's own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select

from data.schema import verdicts
from data.store import Store
from evaluation.outcomes import Verdict
from evaluation.runs.run_rows import verdict_from_row, verdict_row

Key = tuple[str, str, str, int]
"""Key of a sample: question, arm, decoding, number of the sample."""


class ExtraVerdicts:
    """The stored verdicts of additional verifiers. The object has no state except its store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def save(self, run_id: str, verifier: str, judged: Sequence[tuple[Key, tuple[Verdict, ...]]]) -> None:
        """Write verdicts under the name ``verifier`` in one transaction.

        Samples that already have verdicts of this verifier are skipped.
        """
        with self._store.write() as connection:
            known = self.load(run_id, verifier)
            rows = [
                verdict_row(run_id, key, number, verdict) | {"verifier": verifier}
                for key, sample_verdicts in judged
                if key not in known
                for number, verdict in enumerate(sample_verdicts)
            ]
            if rows:
                connection.execute(insert(verdicts), rows)

    def load(self, run_id: str, verifier: str) -> dict[Key, tuple[Verdict, ...]]:
        """Return the verdicts of a verifier by sample, in the order of the claims."""
        rows_by_sample: dict[Key, list[Mapping[str, Any]]] = defaultdict(list)
        statement = select(verdicts).where(verdicts.c.run_id == run_id, verdicts.c.verifier == verifier)
        with self._store.read() as connection:
            for row in connection.execute(statement.order_by(verdicts.c.claim)).mappings():
                rows_by_sample[row["question_id"], row["arm"], row["decoding"], row["sample"]].append(dict(row))
        return {key: tuple(verdict_from_row(row) for row in rows) for key, rows in rows_by_sample.items()}

    def verifiers(self, run_id: str) -> tuple[str, ...]:
        """Return the sorted names of all verifiers with verdicts on samples of the run."""
        statement = select(verdicts.c.verifier).where(verdicts.c.run_id == run_id).distinct()
        with self._store.read() as connection:
            return tuple(sorted(connection.execute(statement).scalars()))
