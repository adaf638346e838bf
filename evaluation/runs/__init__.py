"""Run experiments: arms, cells, seeds, and the store of runs."""
