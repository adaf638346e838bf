"""Rules that detect a claim which contradicts its evidence while using the same words."""
