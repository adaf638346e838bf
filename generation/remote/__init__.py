"""Generators on other machines, behind the protocol that OpenAI's interface has made common."""
