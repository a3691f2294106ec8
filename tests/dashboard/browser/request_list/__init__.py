"""The list of requests in Chromium: rows, columns, filters, keys, and what it saves."""
