"""Test files that several workers run at the same time.

They are ``on_one_server``, ``on_one_shop`` or ``on_two_servers``, or mock for a browser:
``in_a_browser``, ``in_a_browser_https``, ``launched_with_a_proxy``.
``shared_by_workers`` has routes for all tests.
"""
