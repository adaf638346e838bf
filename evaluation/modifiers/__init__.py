"""Arm modifiers: changes to a base arm, and the parser of their names."""
