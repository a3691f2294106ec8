"""Test files that other test runners run, whose results are compared."""
