"""Which entries a list shows, and in which order."""
