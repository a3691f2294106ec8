"""Texts for messages and logs, the fields that users name, and texts with marks."""
