"""Background jobs: stored in the database, taken by workers under a lease, with one module per kind of job."""
