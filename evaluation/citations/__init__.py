"""Whether the citations of an answer bear its sentences out (ALCE, Gao et al. 2023)."""
