"""The tables of the SQL store, by topic; data/schema.py imports them all."""
