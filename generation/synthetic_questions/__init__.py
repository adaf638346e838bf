"""Questions written by rule from documents."""
