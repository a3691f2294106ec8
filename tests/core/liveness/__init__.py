"""Clients that freeze, fall silent or are lost, and what becomes of those who wait for them."""
