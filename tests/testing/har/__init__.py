"""HAR files: what the proxy gets of them, and what is recorded."""
