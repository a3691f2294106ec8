"""What tools say of the whole tree."""
