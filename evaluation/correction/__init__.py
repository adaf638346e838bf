"""Correction of rates by human labels: draws of responses to label, annotator agreement, corrected estimates."""
