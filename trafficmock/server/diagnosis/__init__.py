"""What came instead of what a test waited for, or has routes for, for its workers' errors.

``similar_request_search`` compares the requests of the history with routes and waits, and finds
each ``similar_request``;
``diagnosis_texts`` says in words what differs, and which applications are connected.
``traffic_of_test`` is the text of a failing test's report: what became of each request.
"""
