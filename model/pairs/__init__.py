"""Score pairs of evidence and claim with any sequence classifier."""
