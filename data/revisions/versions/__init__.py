"""One file a version of the schema; its number is the revision."""
