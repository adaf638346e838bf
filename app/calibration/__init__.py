"""Certificates of runs: compute them from labels, sign them, store them in the home, and check them."""
