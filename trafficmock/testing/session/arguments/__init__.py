"""What the arguments of a test mean, before anything is sent.

``url_matchers`` reads what a route or wait is for, ``allow_patterns`` what strict mode allows,
``headers`` and ``request_overrides`` what a handler changes, ``callables`` checks, names and
calls the functions of the test.
"""
