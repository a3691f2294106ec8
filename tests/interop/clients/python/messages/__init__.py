"""Libraries that send messages through a broker, and whose test a message's handler works for."""
