"""The tables of the SQL store, by concept; data/schema.py has them all."""
