"""Compute rates with confidence intervals clustered by question, from counts of outcomes."""
