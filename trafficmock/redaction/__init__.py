"""Secrets replaced in what is written or printed, and texts from outside for messages.

``redactor`` has :class:`~trafficmock.redaction.redactor.Redactor`, with one function each for
header lines, a URL, a body, a text and a WebSocket frame; ``redacted_documents`` does a whole HAR,
or an entry of the REST API, ``redacted_events`` what a history gets, ``url_batches`` many URLs.
What counts as a secret stands in ``secret_names`` and ``key_forms``, and in ``added_fields`` what a
user adds; ``places`` finds names beside values, and ``secret_patterns`` patterns in texts.
``marks`` makes what stands for a secret, and compares it with a value. ``json_secrets``,
``form_secrets`` and ``body_codings`` read bodies.
``process_redactor`` is for what a process says.
``message_text`` escapes texts from outside for messages of one line,
and takes the credentials out of a proxy's URL.
"""

from trafficmock.redaction.message_text import printable, why, without_credentials

__all__ = ["printable", "why", "without_credentials"]
