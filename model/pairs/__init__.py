"""Score pairs of evidence and claim with a sequence classifier."""
