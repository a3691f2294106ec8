"""The test side: its parts by themselves, and every rule on every adapter against a real proxy."""
