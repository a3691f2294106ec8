"""The npm package ``trafficmock-playwright``: its own tests, and our rows and specs with it."""
