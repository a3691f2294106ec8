"""Test files that other test runners run, to see what they make of them."""
