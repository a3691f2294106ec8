"""Ways in which a Python server comes to send a request, and whose test it then belongs to."""
