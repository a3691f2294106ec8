"""Secrets replaced in what is written or printed.

``redactor`` has :class:`~trafficmock.redaction.redactor.Redactor`, with one function each for
header lines, a URL, a body, a text and a WebSocket frame; ``redacted_documents`` does a whole HAR,
or an entry of the REST API, ``redacted_events`` what a history gets, ``url_batches`` many URLs.
What counts as a secret stands in ``secret_names`` and ``key_forms``; ``places`` finds names beside
values. ``marks`` makes what stands for a secret. ``json_secrets``, ``form_secrets`` and
``body_codings`` read bodies.
"""
