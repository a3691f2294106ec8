"""What an entry keeps of a request or a WebSocket, and how REST shows it."""
