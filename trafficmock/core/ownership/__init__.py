"""Which test owns a request or a WebSocket.

``registry`` keeps the tests and their routes, and tells which of them match. ``owner_resolution``
decides: an owner, nobody, or an error because several tests match (``ambiguous_route``). Where
only a test's own worker can tell, the tests are asked in a round (``claims``). ``contexts`` knows
which test a request was made for, and ``door_origins`` what a test's door may stamp; ``strictness``
says what strict mode refuses, ``refusals`` and ``unowned_refusals`` carry it out.
``owner_timeout`` takes what it owns from a worker that is blocked or stopped.

What no test wants is judged by ``strictness``. ``refusals`` says why strict mode refuses it, and
``unowned_refusals`` lists what of it belongs to no test.
"""
