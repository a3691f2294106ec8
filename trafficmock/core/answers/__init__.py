"""Gives requests their answers, whoever they come from: a handler, a route, or a HAR.

``giving`` has the one way in, :meth:`.Answers.give`. ``response_rules`` correct mocks (status,
headers, size), ``mock_codings`` their coding. ``body_way`` says in which parts a body comes, and
how it breaks; ``streamed_answers`` passes on the bodies that come piece by piece.
``given_answers`` reads the answers of a route when it is registered, of which ``kept_answers`` is
the form that is kept, and ``route_answers`` answers requests by them. ``answer_reading`` reads the
options that a test has written, and refuses wrong ones in its language (``languages``).
"""
