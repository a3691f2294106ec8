"""Doors of tests."""
