"""Implementation of the commands ``plumbline train``."""
