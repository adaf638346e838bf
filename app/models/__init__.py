"""Models by name: opened, checked, evaluated."""
