"""Bad input against the running service, while ten honest connections are being served."""
