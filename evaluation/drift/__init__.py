"""Dependence between neighbouring unsupported claims. It measures dependence, not causation."""
