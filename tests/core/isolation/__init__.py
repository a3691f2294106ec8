"""Requests that lost the context of their test."""
