"""Strict mode: what no route wants is refused."""
