"""Generate question sets from collections, review them, and import questions from logs."""
