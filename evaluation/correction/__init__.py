"""Correction of rates by human labels: drawing responses to label, annotator agreement, corrected estimates."""
