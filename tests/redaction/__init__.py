"""Secrets in what is written or printed."""
