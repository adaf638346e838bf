"""Audits of answers in service: their random draw, their storage, their labels and the figures derived from them."""
