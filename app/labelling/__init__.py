"""Human labels of a run's answers."""
