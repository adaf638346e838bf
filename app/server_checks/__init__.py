"""What `plumbline doctor` measures about a model's server: one file a concept."""
