"""Add the service's data: keys, tenants, and jobs with leases, cancellation and idempotency keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from data.columns import UtcDateTime

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Add a table, and columns with defaults, so that existing rows stay valid and belong to the local user."""
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        _tenant(),
        sa.Column("secret_sha256", sa.String(64), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("limits", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime()),
        sa.Column("revoked_at", UtcDateTime()),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
    )
    op.add_column("collections", _tenant())
    op.add_column("collections", sa.Column("label", sa.String(255)))
    op.create_index("uq_collections_tenant_label", "collections", ["tenant", "label"], unique=True)
    op.add_column("runs", _tenant())
    op.create_index("ix_runs_tenant", "runs", ["tenant"])
    for column in (
        _tenant(),
        sa.Column("request", sa.JSON()),
        sa.Column("result", sa.JSON()),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("lease_until", UtcDateTime()),
        sa.Column("stopping", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("idempotency_key", sa.String(255)),
        sa.Column("request_sha256", sa.String(64)),
        sa.Column("run_id", sa.String(64)),
    ):
        op.add_column("jobs", column)
    op.create_index("ix_jobs_run_id", "jobs", ["run_id"])
    op.create_index("uq_jobs_tenant_idempotency_key", "jobs", ["tenant", "idempotency_key"], unique=True)
    op.create_index("ix_jobs_tenant_created_at", "jobs", ["tenant", "created_at"])


def _tenant() -> sa.Column[str]:
    return sa.Column("tenant", sa.String(64), nullable=False, server_default="")
