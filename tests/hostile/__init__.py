"""Bad input against the running service, while ten well-behaved clients are being served."""
