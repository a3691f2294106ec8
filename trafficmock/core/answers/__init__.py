"""Gives requests their answers, whoever they come from: a handler, a route, or a HAR.

Two ways lead to :meth:`.Answers.give` of ``giving``:

* a handler's decision comes with ``handler:result`` (:mod:`.http.handler_results`), and
  ``answer_reading`` reads its options;
* the options of a mock come with ``route:register``. ``given_answers`` has them read, once;
  ``kept_answers`` is the form that is kept, and ``route_answers`` gives the next answer when the
  chain of a request comes to the route.

A delayed answer is a step of the core's :mod:`.planned_steps`: the driver wakes the coordinator,
whose ``tick`` takes it.

``answer_reading`` refuses wrong options in the test's language (``languages``). ``response_rules``
correct mocks (status, headers, size), ``mock_codings`` their coding. ``body_way`` says in which
parts a body comes, and how it breaks; ``streamed_answers`` passes on the bodies that come piece by
piece.
"""
