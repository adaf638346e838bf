"""Dependence between neighbouring unsupported claims. Dependence is measured, not causation."""
