"""Sample size planning: questions, samples and labels for a target precision, by simulation of the analysis."""
