"""Entries as HAR."""
