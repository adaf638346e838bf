"""ExtraVerdicts: verdicts of verifiers other than the run's own, in the SQL store."""

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
"""question, arm, decoding, sample."""


class ExtraVerdicts:
    """Maps verdicts to database rows. Stateless."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def save(self, run_id: str, verifier: str, judged: Sequence[tuple[Key, tuple[Verdict, ...]]]) -> None:
        """Write verdicts under ``verifier``'s name in one transaction; samples that have some are skipped."""
        with self._store.write() as connection:
            known = self.load(run_id, verifier)
            rows = [
                verdict_row(run_id, key, number, verdict) | {"verifier": verifier}
                for key, mine in judged
                if key not in known
                for number, verdict in enumerate(mine)
            ]
            if rows:
                connection.execute(insert(verdicts), rows)

    def load(self, run_id: str, verifier: str) -> dict[Key, tuple[Verdict, ...]]:
        """Verdicts of a verifier by sample, claims in order."""
        found: dict[Key, list[Mapping[str, Any]]] = defaultdict(list)
        chosen = select(verdicts).where(verdicts.c.run_id == run_id, verdicts.c.verifier == verifier)
        with self._store.read() as connection:
            for row in connection.execute(chosen.order_by(verdicts.c.claim)).mappings():
                found[row["question_id"], row["arm"], row["decoding"], row["sample"]].append(dict(row))
        return {key: tuple(verdict_from_row(row) for row in rows) for key, rows in found.items()}

    def verifiers(self, run_id: str) -> tuple[str, ...]:
        """Names of all verifiers with verdicts on samples of the run."""
        chosen = select(verdicts.c.verifier).where(verdicts.c.run_id == run_id).distinct()
        with self._store.read() as connection:
            return tuple(sorted(connection.execute(chosen).scalars()))
