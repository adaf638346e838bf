"""Search, tune and watch collections."""
