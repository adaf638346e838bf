"""Modify arms: changes to a base arm, and the parser of arm names."""
