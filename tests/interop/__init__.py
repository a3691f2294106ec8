"""Real applications, clients and browsers against a running proxy.

``tox -e deep`` runs all of it; the usual run a part, which the table in ``tests/README.md`` names.

- :mod:`~tests.interop.attached`: programs of several languages that are started attached.
- :mod:`~tests.interop.browsers`: each kind of request of three browsers.
- :mod:`~tests.interop.clients`: HTTP clients of several languages and libraries of Node and Python.
- :mod:`~tests.interop.npm`: the packages ``@playwright-backend-mocks`` as they are.
"""
