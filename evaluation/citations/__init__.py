"""Whether the citations of an answer support its sentences (ALCE, Gao et al. 2023)."""
