"""Judgement of whether an answer's citations support its sentences (ALCE, Gao et al. 2023)."""
