"""Question sets: made from a collection, reviewed by people, imported from logs."""
