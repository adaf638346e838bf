"""Generate question sets from documents: filtering, stratification and counts of candidates."""
