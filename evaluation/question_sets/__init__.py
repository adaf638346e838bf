"""Question sets from documents: candidates checked, stratified, counted."""
