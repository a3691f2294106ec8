"""The dashboard: its process, and its pages in a real browser."""
