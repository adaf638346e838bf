"""Plan sample sizes: questions, samples and labels for a target precision, by simulation of the analysis."""
