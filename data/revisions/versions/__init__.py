"""One file for each schema version; its number is the revision."""
