"""What test modules share: fixtures, fakes, invariants, the launcher."""
