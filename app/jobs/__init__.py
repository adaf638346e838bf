"""Background jobs, which are stored in the database and run by workers under a lease."""
