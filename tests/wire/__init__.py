"""What crosses the coordinator WebSocket."""
