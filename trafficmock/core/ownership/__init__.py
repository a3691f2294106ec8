"""Decides which test owns a request or a WebSocket, and whether strict mode refuses it.

``registry`` has the tests, their routes and their answers, and finds the routes that match;
``given_globs`` reads the globs of routes, and ``compared_content`` gives the parts of a request
beside the URL. ``run_routes`` has those that all workers of a run register as one.
``owner_resolution`` decides by the rule in its docstring: an owner, no owner, or an error because
several tests match (``ambiguous_route``; ``ambiguity`` has the text). If only the workers of tests
can decide whether a route matches, the tests get a question, the **claim** (``claims``).
``contexts`` maps the **context** that a request carries to its test, and leaves the tests that may
have the request (``narrow``).

``strictness`` decides whether strict mode refuses a request that no route matches. A test, a
**run** (all tests that one test command runs) and the service can be strict. ``refusals``
writes the error, with the most similar route and the parts that differ (``differences``), and
``unowned_refusals`` lists the refused requests that belong to no test. ``lost_runs`` has the strict
runs whose worker was lost.
"""
