"""The export to a collector of OpenTelemetry (OTLP): spans of the traffic, and metrics.

Nothing here is imported unless ``--otlp-endpoint`` or a variable names a collector
(``export_settings``); then the composition root makes the **exporter** (``assembly``,
``exporter``). The driver passes it each record (:mod:`trafficmock.records`), as to the history:
``request_spans``, ``websocket_spans`` and ``spans_of_tests`` make **spans** of them
(``finished_span``), with the parent that the application names (``trace_parent``), and
``traffic_metrics`` counts. What is over waits in the ``span_queue``. The exporter writes batches
of it (:mod:`trafficmock.telemetry.otlp`), with ids of ``random_ids``, and sends them
(``otlp_client``), on the reactor and without waiting. A decision never waits for any of it.
"""
