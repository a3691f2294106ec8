"""What tests hand in."""
