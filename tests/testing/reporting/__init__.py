"""The report of a run, by real test runners and a real proxy."""
