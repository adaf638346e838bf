"""Audits of answers in service: what is drawn, how it is stored and labelled."""
