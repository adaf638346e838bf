"""Revisions of the schema, one file for each schema version. The number of the version is the revision."""
