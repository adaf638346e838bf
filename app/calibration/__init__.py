"""Certificates of runs: from labels to a signed file in the home, and whether it still holds."""
