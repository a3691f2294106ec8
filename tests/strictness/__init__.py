"""Attacks on strict mode by processes that end, stop and lose each other."""
