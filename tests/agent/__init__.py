"""The Node agent: its own tests, run by Node's test runner."""
