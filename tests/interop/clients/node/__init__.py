"""
Real Node libraries under the Node agent: does each do what it does without?

A *program* (``programs`` and ``deep``) makes a list of named calls with one library and tells
what came of each. It runs in several *modes* (:mod:`tests.interop.clients.node.modes`): without the
agent, passed through, mocked, aborted, continued with a change, fetched and fulfilled.
``comparison`` holds every run against one without the agent, field by field: results and errors,
requests as the server or the test got them, connections, output, and the time to exit. What may
differ stands in its ``differences``, with the reason; everything else is a failure.

``python -m tests.interop.clients.node`` runs what is asked for and prints the table of the docs.
"""
