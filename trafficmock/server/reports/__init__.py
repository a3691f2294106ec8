"""What the report of a test run has of the history: the answers to ``report:query``.

``reported_traffic`` selects the requests and WebSockets of a test, or those of no test, cuts long
bodies, and makes the HAR. ``made_reports`` makes the files of a report of a test side's data,
``written_recordings`` the HARs that tests record, and ``written_marks`` redacts texts that they
write; ``slow_work`` is what they leave to a thread. Test sides write what they get into files, in
whatever language they are written.
"""
