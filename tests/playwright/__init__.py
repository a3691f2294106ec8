"""The npm package ``trafficmock-playwright``: its own tests, and the project's specs."""
