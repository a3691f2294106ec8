"""Requests that the coordinator answers from the HAR of a route.

``test_har_replies`` is the replay by Playwright's rules, ``test_redacted_har`` that of a HAR
without secrets, ``test_matching`` that by chosen parts and in their order. ``test_match_rules``
compares anything with anything.
"""
