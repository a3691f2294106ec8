"""The waits of tests for requests and responses."""
