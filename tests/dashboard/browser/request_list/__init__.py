"""The list of requests in Chromium: rows, columns, filters, keys, and what it saves.

``day_rows`` says what it shows of the day's traffic.
"""
