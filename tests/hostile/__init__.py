"""Bad input against the running service, while ten well-behaved clients are being served.

``case`` starts the service and checks what must hold afterwards; ``clients`` send the input.
"""
