"""What mitmproxy is told to load; run by its own interpreter, with nothing of ours installed."""
