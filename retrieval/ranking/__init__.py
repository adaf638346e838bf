"""What may be done to a list of retrieved chunks before it is cut: another order, fewer repeats, more context."""
