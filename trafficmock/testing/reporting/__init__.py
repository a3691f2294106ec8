"""The report of a run, on the test side: which tests are in it, with what the proxy has of them.

``run_recorder`` is one process of the run. The connections offer it the traffic of a session that
ends (``record_of_test`` makes the record of it); the test runner reports how the test ended, and
the recorder writes the record or drops it. ``pytest_report`` is that runner for pytest, whose
options ``report_options`` reads; ``case_report`` for the test cases of unittest and trial. The
files, and the page that is made of them, are those of :mod:`trafficmock.report`. ``guard`` keeps an
error in the hooks of trafficmock itself from ending a run; ``pytest_problems`` keeps those at the
end of a pytest run until its summary. ``run_age`` says when the run began.
"""
