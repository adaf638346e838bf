"""Long work: jobs in the database, taken up by workers under a lease, and what each kind of job does."""
