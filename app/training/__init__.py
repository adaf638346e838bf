"""Training commands, wired."""
