"""The report of a test run: one directory with the traffic of its tests, for people and programs.

Who does what:

* The **proxy** has the traffic. When a test has failed, its worker asks for it by
  ``report:query`` (:mod:`trafficmock.server.reports`), and gets requests, WebSockets and a HAR,
  with long bodies cut. For a test that has passed nothing is asked, unless the mode is ``on``.
* The **test side** knows title, place, outcome and error of a test. Each process of a run appends
  records to a file of its own, ``data/*.jsonl`` (``data_files``): so workers, shards and runners
  in several languages write side by side, and a process that dies loses its last line at most.
* A **merge** (``report_directory``) reads all these files. ``run_document`` makes one document of
  them, which is written as ``run.json`` and, within a copy of the dashboard (``saved_page``), as
  ``index.html``. Each process merges at its end; whoever is last has all. The result depends on
  the files alone, so it can be done again, also for the directories of several shards.

``har_reader`` makes such a document of any HAR, and ``page_server`` serves a page to the browser of
this machine. ``unused_entries`` compares a HAR that tests replay with what a run has used of it.
``foreign_files`` and ``record_checks`` are for the files of others: what is read of them, and what
of it can be shown. ``report_settings`` are the limits, and what users set.
"""
