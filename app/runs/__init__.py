"""Evaluation runs: plan, run, analyse and report them."""
