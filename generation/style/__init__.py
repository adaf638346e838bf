"""Full sentences from short answers."""
