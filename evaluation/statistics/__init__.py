"""Rates with confidence intervals clustered by question. The input is counts of outcomes."""
