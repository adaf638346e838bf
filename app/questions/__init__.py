"""Question sets: generated from a collection, reviewed by people, imported from logs."""
