"""Requests that agents let pass without asking."""
