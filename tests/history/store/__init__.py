"""What the history keeps, and for how long: entries, bodies and their weight."""
