"""Python servers, and frameworks on them, with the preload: whose request each one is (deep).

``test_servers`` starts each and counts; ``applications`` has the applications, ``start`` starts the
servers that have no command.
"""
